const units = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "always", style: "long" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "long" });

/** “3 minutes ago”, or “in 2 days”, counting full units. */
export function relativeTime(at: string, nowMs: number): string {
  const seconds = (Date.parse(at) - nowMs) / 1000;
  for (const [unit, secondsOfUnit] of units) {
    if (Math.abs(seconds) >= secondsOfUnit) return relative.format(Math.trunc(seconds / secondsOfUnit), unit);
  }
  return seconds > 0 ? "in a moment" : "just now";
}

/** Date, time and zone, in the user's time zone. */
export function exactTime(at: string): string {
  return exact.format(new Date(at));
}

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "long" });
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "full" });

/** “02:14:09 UTC”, in the user's time zone. */
export function clockTime(at: string): string {
  return clock.format(new Date(at));
}

const shortDay = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const timeOfDay = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

/** “02:14:09”, or “29 Nov 2026” after a day, in the user's time zone: for lists, where rows of one minute are told apart. */
export function listedTime(at: string, nowMs: number): string {
  const isRecent = Math.abs(nowMs - Date.parse(at)) < dayMs;
  return (isRecent ? timeOfDay : shortDay).format(new Date(at));
}

/** “Sunday 29 November 2026”, in the user's time zone. */
export function dayOf(at: string): string {
  return day.format(new Date(at));
}

/** How far back a page looks. */
export const periods = ["24h", "7d", "30d", "90d"] as const;
export type Period = (typeof periods)[number];

export const defaultPeriod: Period = "7d";

export interface PeriodSearch {
  /** Absent: 7 days. */
  period?: Period;
}

/** To follow “the last”. */
export const periodLabels: Record<Period, string> = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "90d": "90 days",
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const hoursOf: Record<Period, number> = { "24h": 24, "7d": 7 * 24, "30d": 30 * 24, "90d": 90 * 24 };
const stepsMs = { hour: hourMs, day: dayMs };

export type Step = keyof typeof stepsMs;

/** The period in the URL; unknown values are ignored. */
export function readPeriodSearch(search: Record<string, unknown>): PeriodSearch {
  const period = periods.find((known) => known === search.period);
  return period === undefined ? {} : { period };
}

/** The start of a period, rounded to a whole minute so that it stays the same for a while. */
export function startOf(period: Period, nowMs: number): string {
  return new Date(Math.floor((nowMs - hoursOf[period] * hourMs) / 60_000) * 60_000).toISOString();
}

/** The start of a period, rounded to a whole step, and its step. */
export function periodBounds(period: Period, nowMs: number): { since: string; step: Step } {
  const step = period === "24h" ? "hour" : "day";
  const stepMs = stepsMs[step];
  const startMs = Math.floor((nowMs - hoursOf[period] * hourMs) / stepMs + 1) * stepMs;
  return { since: new Date(startMs).toISOString(), step };
}

/** The start of each step, up to and including the current one. */
export function stepStartsMs(since: string, step: Step, nowMs: number): number[] {
  const firstMs = Date.parse(since);
  const count = Math.max(0, Math.floor((nowMs - firstMs) / stepsMs[step]) + 1);
  return Array.from({ length: count }, (_, index) => firstMs + index * stepsMs[step]);
}

/** The user's, for inputs of times. */
export const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();

/** The value of a datetime-local input, in the user's time zone. */
export function toLocalInput(instant: string | undefined): string {
  if (instant === undefined) return "";
  const at = new Date(instant);
  const pad = (part: number) => String(part).padStart(2, "0");
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day}T${pad(at.getHours())}:${pad(at.getMinutes())}`;
}

/** Undefined while the input is incomplete, such as a year being typed. */
export function fromLocalInput(text: string): string | undefined {
  const at = new Date(text);
  const isWhole = text !== "" && at.getTime() > 0;
  return isWhole ? at.toISOString().replace(".000Z", "Z") : undefined;
}
