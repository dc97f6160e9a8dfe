import type { Call } from "./call.ts";
import { PresageError } from "./presage-error.ts";

/**
 * Whether a failed call may be retried. A repeatable call may also be retried after a failed connection, although its
 * outcome is unknown; any other call only if it certainly had no effect.
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

/** The errors of fetch on Node.js and Bun if it could not connect, so nothing was sent. Browsers do not reveal this. */
const unconnectedCodes = new Set([
  "ConnectionRefused",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A name may have several addresses; each was tried.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(wasNeverSent);
  if ("code" in error && unconnectedCodes.has(String(error.code))) return true;
  return wasNeverSent(error.cause);
}
