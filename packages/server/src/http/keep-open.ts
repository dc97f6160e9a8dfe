import type { Call } from "./route.ts";

/** The longest time that Bun takes; beyond it a connection is kept without a limit. */
const longestBunKnowsS = 255;

/** Bun closes a connection on which nothing moves; one that waits for the upstream may wait until the deadline. */
export function keepOpen({ server, request }: Pick<Call, "server" | "request">, timeoutMs: number): void {
  const seconds = Math.ceil(timeoutMs / 1000) + 5;
  server.timeout(request, seconds > longestBunKnowsS ? 0 : seconds);
}
