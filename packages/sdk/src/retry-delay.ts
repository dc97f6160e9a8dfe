const firstDelayMs = 500;
const longestDelayMs = 8000;

/**
 * Milliseconds to wait before a retry, counted from 0: at least what the server asked for, plus a random delay so that
 * clients that failed together do not retry together.
 */
export function retryDelayMs(retry: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs !== undefined) return retryAfterMs + Math.random() * Math.min(firstDelayMs, retryAfterMs);
  const mostMs = Math.min(longestDelayMs, firstDelayMs * 2 ** retry);
  return mostMs / 2 + (Math.random() * mostMs) / 2;
}
