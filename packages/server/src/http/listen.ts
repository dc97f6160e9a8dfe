import { setTimeout as sleep } from "node:timers/promises";
import type { HttpEnv } from "./exchange.ts";

/** A connection on which nothing moves for so long is closed; one that sends less than 16 KB in that time as well. */
const idleTimeoutS = 30;
/** Bodies are bounded by our own check, which answers in our own words. */
const noLimitOfBuns = Number.MAX_SAFE_INTEGER;
/** How long predictions under way may take once the server is told to stop. */
const drainTimeoutMs = 30_000;
/** How long the server must have been quiet before the connections that are still open are closed. */
const quietMs = 250;

export interface Listening {
  address: string;
  isLoopback: boolean;
  /** Takes no new connections and returns once the requests under way are answered, or after 30 s. */
  drain(): Promise<void>;
}

export function listen(
  { host, port }: { host: string; port: number },
  app: { fetch(request: Request, env: HttpEnv["Bindings"]): Response | Promise<Response> },
): Listening {
  const server = Bun.serve({
    hostname: host,
    port,
    idleTimeout: idleTimeoutS,
    maxRequestBodySize: noLimitOfBuns,
    fetch: (request, self) => app.fetch(request, { server: self }),
  });
  return {
    address: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    isLoopback: host === "localhost" || host === "::1" || host.startsWith("127."),
    async drain() {
      const stopped = server.stop(false);
      const deadlineMs = performance.now() + drainTimeoutMs;
      let quietSinceMs = performance.now();
      while (performance.now() < deadlineMs && performance.now() - quietSinceMs < quietMs) {
        await sleep(10);
        if (server.pendingRequests > 0) quietSinceMs = performance.now();
      }
      await server.stop(true);
      await stopped;
    },
  };
}
