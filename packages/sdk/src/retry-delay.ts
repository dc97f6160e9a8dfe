const firstDelayMs = 500;
const longestDelayMs = 8000;

/**
 * Milliseconds to wait before a retry, counted from 0. What the server asks for is the least; the rest is chance, so that
 * clients that failed together do not come back together.
 */
export function retryDelayMs(retry: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs !== undefined) return retryAfterMs + Math.random() * Math.min(firstDelayMs, retryAfterMs);
  const mostMs = Math.min(longestDelayMs, firstDelayMs * 2 ** retry);
  return mostMs / 2 + (Math.random() * mostMs) / 2;
}
