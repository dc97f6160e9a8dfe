/** The pause that a `Retry-After` asks for: a number of seconds, or a date. */
export function askedPauseMs(retryAfter: string | undefined): number {
  if (retryAfter === undefined) return 0;
  const seconds = Number(retryAfter);
  const pauseMs = Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000;
  return Number.isNaN(pauseMs) ? 0 : Math.max(0, pauseMs);
}
