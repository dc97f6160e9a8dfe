const units = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "long" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

/** “3 minutes ago”, or “in 2 days”. */
export function relativeTime(at: string, nowMs: number): string {
  const seconds = (Date.parse(at) - nowMs) / 1000;
  for (const [unit, secondsOfUnit] of units) {
    if (Math.abs(seconds) >= secondsOfUnit) return relative.format(Math.round(seconds / secondsOfUnit), unit);
  }
  return seconds > 0 ? "in a moment" : "just now";
}

/** Date, time and zone, in the user's time zone. */
export function exactTime(at: string): string {
  return exact.format(new Date(at));
}
