/** How far back a page looks. */
export const periods = ["24h", "7d", "30d", "90d"] as const;
export type Period = (typeof periods)[number];

export const defaultPeriod: Period = "7d";

export interface PeriodSearch {
  /** Absent: 7 days. */
  period?: Period;
}

/** Read after “the last”. */
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

/** The start of a period, rounded to a whole step, and its step. */
export function periodBounds(period: Period, nowMs: number): { since: string; step: Step } {
  const step = period === "24h" ? "hour" : "day";
  const stepMs = stepsMs[step];
  const startMs = Math.floor((nowMs - hoursOf[period] * hourMs) / stepMs + 1) * stepMs;
  return { since: new Date(startMs).toISOString(), step };
}

/** The previous period of the same length. It ends one period before now, rounded to the hour. */
export function periodBefore(period: Period, nowMs: number): { since: string; until: string; step: Step } {
  const { since, step } = periodBounds(period, nowMs);
  const lengthMs = hoursOf[period] * hourMs;
  const untilMs = Math.round(nowMs / hourMs) * hourMs - lengthMs;
  return {
    since: new Date(Date.parse(since) - lengthMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    step,
  };
}

/** The first UTC day of a period: evaluations are counted by whole days. */
export function firstDayOf(period: Period, nowMs: number): string {
  const sinceMs = Date.parse(periodBounds(period, nowMs).since);
  return new Date(Math.floor(sinceMs / dayMs) * dayMs).toISOString();
}

/** The same number of whole UTC days before that. */
export function daysBefore(period: Period, nowMs: number): { since: string; until: string } {
  const untilMs = Date.parse(firstDayOf(period, nowMs));
  const days = Math.floor(nowMs / dayMs) - untilMs / dayMs + 1;
  return { since: new Date(untilMs - days * dayMs).toISOString(), until: new Date(untilMs).toISOString() };
}

/** The start of each step, up to and including the current one. */
export function stepStartsMs(since: string, step: Step, nowMs: number): number[] {
  const firstMs = Date.parse(since);
  const count = Math.max(0, Math.floor((nowMs - firstMs) / stepsMs[step]) + 1);
  return Array.from({ length: count }, (_, index) => firstMs + index * stepsMs[step]);
}
