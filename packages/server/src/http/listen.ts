import { setTimeout as sleep } from "node:timers/promises";
import type { App } from "./app.ts";
import { idleTimeoutS } from "./pipeline/keep-open.ts";
import { startingApp } from "./starting-app.ts";

/** Bodies are bounded by our own check, which answers in our own words. */
const noLimitOfBuns = Number.MAX_SAFE_INTEGER;
/** How long predictions under way may take once the server is told to stop. */
const drainTimeoutMs = 30_000;
/** How long callers on kept connections are given to learn that they should go elsewhere. */
const farewellMs = 1_000;
/** After so long without a request there is nobody left to tell. */
const quietMs = 250;

export interface Listening {
  address: string;
  isLoopback: boolean;
  /** Serves this from now on. */
  use(app: App): void;
  /**
   * Takes no new connections after a second at most, and returns once the requests under way are answered, or after 30 s.
   * Says how many requests it had to cut off.
   */
  drain(): Promise<number>;
}

export function listenAddress(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Takes the address at once, and answers that it is starting until it is given something to serve. */
export function listen({ host, port }: { host: string; port: number }): Listening {
  let app = startingApp();
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: idleTimeoutS,
    maxRequestBodySize: noLimitOfBuns,
    // Else Bun answers what goes wrong outside of our own care with a page that shows the source.
    development: false,
    routes: app.routes,
    fetch: app.fetch,
  });

  /** Bun's stop closes idle connections at once; a request that is on its way on one of them would be lost. */
  async function sayFarewell(startedAtMs: number): Promise<void> {
    let quietSinceMs = startedAtMs;
    while (performance.now() - startedAtMs < farewellMs && performance.now() - quietSinceMs < quietMs) {
      await sleep(10);
      quietSinceMs =
        server.pendingRequests > 0 ? performance.now() : Math.max(startedAtMs, app.lastRequestAtMs());
    }
  }

  /** What was cut off is aborted, and still says in the log what became of it. */
  async function settleCutOff(): Promise<void> {
    const startedAtMs = performance.now();
    while (app.underWay() > 0 && performance.now() - startedAtMs < farewellMs) await sleep(10);
  }

  return {
    address: listenAddress(host, server.port ?? port),
    isLoopback: host === "localhost" || host === "::1" || host.startsWith("127."),
    use(next) {
      app = next;
      server.reload({ routes: app.routes, fetch: app.fetch });
    },
    async drain() {
      const startedAtMs = performance.now();
      await sayFarewell(startedAtMs);
      const stopped = server.stop(false);
      while (server.pendingRequests > 0 && performance.now() - startedAtMs < drainTimeoutMs) await sleep(10);
      const cutOff = server.pendingRequests;
      await server.stop(true);
      await stopped;
      await settleCutOff();
      return cutOff;
    },
  };
}
