import type { Call } from "./call.ts";
import { PresageError } from "./presage-error.ts";

/**
 * Whether a failed call may be retried. Repeatable calls may, even after a connection failure, when the outcome is unknown;
 * other calls only if the server certainly did nothing.
 */
export function mayRetry(
  error: unknown,
  { method, content, isRepeatable = method === "GET" }: Pick<Call, "method" | "content" | "isRepeatable">,
): error is PresageError {
  // A stream can be sent only once.
  if (!(error instanceof PresageError) || content instanceof ReadableStream) return false;
  const { category, status, shouldRetry, cause } = error;
  if (status === 429 || status === 503) return isRepeatable || shouldRetry !== false;
  return category === "connection" && (isRepeatable || (status === undefined && wasNeverSent(cause)));
}

/** Error codes of fetch, on Node.js and Bun, for requests that were never sent. Browsers give no code. */
const unconnectedCodes = new Set([
  "ConnectionRefused",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);

function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A host name may have several addresses, each of which was tried.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(wasNeverSent);
  if ("code" in error && unconnectedCodes.has(String(error.code))) return true;
  return wasNeverSent(error.cause);
}

/** A server that wants a longer pause is not retried. */
export const maxRetryAfterMs = 60_000;
const firstDelayMs = 500;
const longestDelayMs = 8000;

/**
 * Milliseconds to wait before a retry, which counts from 0: at least what the server asks for, plus a random part, so that
 * clients that failed together do not return together.
 */
export function retryDelayMs(retry: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs !== undefined) return retryAfterMs + Math.random() * Math.min(firstDelayMs, retryAfterMs);
  const mostMs = Math.min(longestDelayMs, firstDelayMs * 2 ** retry);
  return mostMs / 2 + (Math.random() * mostMs) / 2;
}
