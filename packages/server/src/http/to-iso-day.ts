const msPerDay = 86_400_000;

/** A day, counted from 1970-01-01 UTC, as a date of ISO 8601. */
export function toIsoDay(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}
