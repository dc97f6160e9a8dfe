import { tInterval } from "../../statistics/t-interval.ts";
import { wilsonInterval } from "../../statistics/wilson-interval.ts";
import type { GroupTotals } from "./group-totals-store.ts";
import type { GroupKey } from "./summary-dimensions.ts";

interface Interval {
  level: number;
  lower: number;
  upper: number;
}

/** The figures of one group. What there is too little for is null. */
export interface SummaryGroup {
  key: GroupKey;
  count: number;
  scored: number;
  passed: number;
  notPassed: number;
  failed: number;
  passRate: number | null;
  passRateInterval: Interval | null;
  meanScore: number | null;
  meanScoreInterval: Interval | null;
  p10: number | null;
  p50: number | null;
  p90: number | null;
}

/** The figures of every group, by day where days were asked for, and the largest groups first. */
export function toSummaryGroups(
  totals: readonly GroupTotals[],
  columns: readonly (keyof GroupKey)[],
): SummaryGroup[] {
  return totals
    .map((group) => ({ name: nameOf(group, columns), group }))
    .sort(
      (a, b) =>
        (a.group.day ?? 0) - (b.group.day ?? 0) ||
        b.group.count - a.group.count ||
        (a.name < b.name ? -1 : 1),
    )
    .map(({ group }) => toSummaryGroup(group, columns));
}

/** Two groups never have the same name: no stored text has a NUL in it. */
function nameOf(key: GroupKey, columns: readonly (keyof GroupKey)[]): string {
  return columns.map((column) => (key[column] === null ? "\0" : `\0=${key[column]}`)).join("");
}

function toSummaryGroup(totals: GroupTotals, columns: readonly (keyof GroupKey)[]): SummaryGroup {
  const { count, scored, passed, not_passed: notPassed, failed, score_sum: sum } = totals;
  const judged = passed + notPassed;
  const scores = { count: scored, sum, sumOfSquares: totals.score_sum_of_squares };
  return {
    key: Object.fromEntries(columns.map((column) => [column, totals[column]])),
    count,
    scored,
    passed,
    notPassed,
    failed,
    passRate: judged === 0 ? null : passed / judged,
    passRateInterval: wilsonInterval(passed, judged),
    meanScore: scored === 0 ? null : sum / scored,
    meanScoreInterval: withinScores(tInterval(scores)),
    p10: fromMille(totals.p10),
    p50: fromMille(totals.p50),
    p90: fromMille(totals.p90),
  };
}

function fromMille(mille: number | null): number | null {
  return mille === null ? null : mille / 1000;
}

/** Of few values the interval would reach beyond what a score can be. */
function withinScores(interval: ReturnType<typeof tInterval>): ReturnType<typeof tInterval> {
  if (interval === null) return null;
  return { ...interval, lower: Math.max(0, interval.lower), upper: Math.min(1, interval.upper) };
}
