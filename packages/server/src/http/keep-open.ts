import type { Call } from "./route.ts";

/**
 * A connection on which nothing moves for so long is closed. So is one whose body comes too slowly: Bun begins this time
 * anew only with each 16 KB for every second of it.
 */
export const idleTimeoutS = 30;
/** The longest time that Bun takes; beyond it a connection is kept without a limit. */
const longestBunKnowsS = 255;

/**
 * Keeps the connection of a request that waits for the upstream, a thread or the store open until that one's deadline. Once it is answered the usual
 * limit holds again: Bun remembers the other one for as long as the connection lives.
 */
export function keepOpen({ server, request, exchange }: Call, timeoutMs: number): void {
  const seconds = Math.ceil(timeoutMs / 1000) + 5;
  server.timeout(request, seconds > longestBunKnowsS ? 0 : seconds);
  exchange.isKeptOpen = true;
}
