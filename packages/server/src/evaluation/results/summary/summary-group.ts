import { tInterval } from "../../statistics/t-interval.ts";
import { wilsonInterval } from "../../statistics/wilson-interval.ts";
import { fromThousandths } from "../record/result-rows.ts";
import type { GroupTotals } from "./group-totals-store.ts";
import type { GroupKey } from "./summary-dimensions.ts";

interface Interval {
  level: number;
  lower: number;
  upper: number;
}

/** The figures of one group; null where there are too few results. */
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

/** The figures of every group, by day if that is a dimension, then the largest groups first. */
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

/** Unique for each group: no stored text contains a NUL. */
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
    p10: fromThousandths(totals.p10),
    p50: fromThousandths(totals.p50),
    p90: fromThousandths(totals.p90),
  };
}

/** With few values the interval would exceed the range of scores. */
function withinScores(interval: ReturnType<typeof tInterval>): ReturnType<typeof tInterval> {
  if (interval === null) return null;
  return { ...interval, lower: Math.max(0, interval.lower), upper: Math.min(1, interval.upper) };
}
