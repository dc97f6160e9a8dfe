/** The pause in a `Retry-After`: a number of seconds, or a date. 0 if it is absent, past or neither. */
export function retryAfterMs(retryAfter: string | undefined): number {
  if (retryAfter === undefined) return 0;
  const seconds = Number(retryAfter);
  const pauseMs = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isNaN(pauseMs) ? 0 : Math.max(0, pauseMs);
}
