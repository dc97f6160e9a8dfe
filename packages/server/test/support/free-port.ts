import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ports that systems give to outgoing connections and to servers that name none; above the last port that browsers refuse. */
const [lowest, above] = [10_100, 32_000];
/** The ports that a process takes at a time, and keeps while it lives: no test ever reaches a server of another process, even an ended one. */
const portsInRange = 300;

let first: number | undefined;
let taken = 0;

/** A port of the loopback interface that no other process is given. A server may listen on it. */
function nextPort(): number {
  if (first === undefined || taken === portsInRange - 1) {
    first = takeRange() ?? first;
    taken = 0;
  }
  if (first === undefined) throw new Error("Other processes have all ports for tests.");
  taken += 1;
  return first + taken;
}

/** Returns the first port of a range, and listens on it as long as the process lives, so the range is its own. */
function takeRange(): number | undefined {
  const ranges = Math.floor((above - lowest) / portsInRange);
  const start = randomInt(ranges);
  for (let range = 0; range < ranges; range += 1) {
    const port = lowest + ((start + range) % ranges) * portsInRange;
    try {
      Bun.listen({ hostname: "127.0.0.1", port, socket: { data() {} } }).unref();
      return port;
    } catch {
      // Another process has the range.
    }
  }
  return undefined;
}

/** A port of the loopback interface on which nothing listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = nextPort();
    if (await isFree(port)) return port;
  }
}

/** Calls `listen` with ports until nothing else listens on one. */
export function listenOnFreePort<Server>(listen: (port: number) => Server): Server {
  for (;;) {
    try {
      return listen(nextPort());
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = createServer().once("error", () => resolve(false));
  probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  return await promise;
}
