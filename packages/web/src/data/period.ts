/** How far back a page looks. */
export const periods = ["24h", "7d", "30d", "90d"] as const;
export type Period = (typeof periods)[number];

/** Where the address bar says nothing. */
export const defaultPeriod: Period = "7d";

export interface PeriodSearch {
  /** Absent: 7 days. */
  period?: Period;
}

/** As it stands after «the last». */
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

/** The period in the address bar; anything else that stands there is passed over. */
export function readPeriodSearch(search: Record<string, unknown>): PeriodSearch {
  const period = periods.find((known) => known === search.period);
  return period === undefined ? {} : { period };
}

/** Where a period begins, on a whole step, and how it is divided. */
export function periodBounds(period: Period, nowMs: number): { since: string; step: Step } {
  const step = period === "24h" ? "hour" : "day";
  const stepMs = stepsMs[step];
  const startMs = Math.floor((nowMs - hoursOf[period] * hourMs) / stepMs + 1) * stepMs;
  return { since: new Date(startMs).toISOString(), step };
}

/** The same stretch of time just before: it ends, to the nearest hour, as long before now as the period takes. */
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

/** The first of the UTC days that a period touches: evaluations are counted by whole days. */
export function firstDayOf(period: Period, nowMs: number): string {
  const sinceMs = Date.parse(periodBounds(period, nowMs).since);
  return new Date(Math.floor(sinceMs / dayMs) * dayMs).toISOString();
}

/** As many whole UTC days as that, before them. */
export function daysBefore(period: Period, nowMs: number): { since: string; until: string } {
  const untilMs = Date.parse(firstDayOf(period, nowMs));
  const days = Math.floor(nowMs / dayMs) - untilMs / dayMs + 1;
  return { since: new Date(untilMs - days * dayMs).toISOString(), until: new Date(untilMs).toISOString() };
}

/** Where each step begins, up to the one that is under way. */
export function stepStartsMs(since: string, step: Step, nowMs: number): number[] {
  const firstMs = Date.parse(since);
  const count = Math.max(0, Math.floor((nowMs - firstMs) / stepsMs[step]) + 1);
  return Array.from({ length: count }, (_, index) => firstMs + index * stepsMs[step]);
}
