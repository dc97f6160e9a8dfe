import type { Call } from "./call.ts";
import { PresageError } from "./presage-error.ts";

/**
 * Whether a failed call may be made again. One that can be repeated, also after a connection that failed: nobody knows what
 * became of it. Any other one only if it is certain that nothing was done.
 */
export function mayRetry(
  error: unknown,
  { isRepeatable }: Pick<Call, "isRepeatable">,
): error is PresageError {
  if (!(error instanceof PresageError)) return false;
  const { category, status, shouldRetry, cause } = error;
  if (status === 429 || status === 503) return isRepeatable || shouldRetry !== false;
  return category === "connection" && (isRepeatable || (status === undefined && wasNeverSent(cause)));
}

/** What fetch says, on Node.js and on Bun, where it found no server: what was not connected was not sent. Browsers say nothing. */
const unconnectedCodes = new Set([
  "ConnectionRefused",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A name may stand for several addresses; each was tried.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(wasNeverSent);
  if ("code" in error && unconnectedCodes.has(String(error.code))) return true;
  return wasNeverSent(error.cause);
}
