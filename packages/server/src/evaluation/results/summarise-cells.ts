import { quantile, toHistogram } from "./histogram.ts";
import type { GroupKey, SummaryCell } from "./summary-cell.ts";
import { type Moments, tInterval } from "./t-interval.ts";
import { wilsonInterval } from "./wilson-interval.ts";

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

/** What the cells of a group add up to. */
interface Totals {
  key: GroupKey;
  count: number;
  passed: number;
  notPassed: number;
  failed: number;
  scores: Moments;
  /** How often each score is there, in thousandths. */
  scoreCounts: [mille: number, count: number][];
}

/** The figures of every group, by day where days were asked for, and the largest groups first. */
export function summariseCells(
  cells: readonly SummaryCell[],
  columns: readonly (keyof GroupKey)[],
): SummaryGroup[] {
  return [...addUp(cells, columns)]
    .sort(
      ([aName, a], [bName, b]) =>
        (a.key.day ?? 0) - (b.key.day ?? 0) || b.count - a.count || (aName < bName ? -1 : 1),
    )
    .map(([, totals]) => toGroup(totals));
}

/** One plain pass: a year of days by a hundred evaluators is a million cells. */
function addUp(cells: readonly SummaryCell[], columns: readonly (keyof GroupKey)[]): Map<string, Totals> {
  const groups = new Map<string, Totals>();
  for (const cell of cells) {
    const name = nameOf(cell, columns);
    let totals = groups.get(name);
    if (totals === undefined) {
      totals = noTotals(Object.fromEntries(columns.map((column) => [column, cell[column]])));
      groups.set(name, totals);
    }
    totals.count += cell.count;
    if (cell.verdict === "pass") totals.passed += cell.count;
    else if (cell.verdict === "fail") totals.notPassed += cell.count;
    else if (cell.verdict !== "none") totals.failed += cell.count;
    if (cell.score_mille < 0) continue;
    totals.scores.count += cell.count;
    totals.scores.sum += cell.score_sum;
    totals.scores.sumOfSquares += cell.score_sum_of_squares;
    totals.scoreCounts.push([cell.score_mille, cell.count]);
  }
  return groups;
}

/** Two groups never have the same name: no stored text has a NUL in it. */
function nameOf(cell: SummaryCell, columns: readonly (keyof GroupKey)[]): string {
  let name = "";
  for (const column of columns) {
    const value = cell[column];
    name += value === null ? "\0" : `\0=${value}`;
  }
  return name;
}

function noTotals(key: GroupKey): Totals {
  const scores = { count: 0, sum: 0, sumOfSquares: 0 };
  return { key, count: 0, passed: 0, notPassed: 0, failed: 0, scores, scoreCounts: [] };
}

function toGroup({ key, count, passed, notPassed, failed, scores, scoreCounts }: Totals): SummaryGroup {
  const histogram = toHistogram(scoreCounts);
  const scoreAt = (share: number) => {
    const mille = quantile(histogram, share);
    return mille === null ? null : mille / 1000;
  };
  const judged = passed + notPassed;
  return {
    key,
    count,
    scored: scores.count,
    passed,
    notPassed,
    failed,
    passRate: judged === 0 ? null : passed / judged,
    passRateInterval: wilsonInterval(passed, judged),
    meanScore: scores.count === 0 ? null : scores.sum / scores.count,
    meanScoreInterval: withinScores(tInterval(scores)),
    p10: scoreAt(0.1),
    p50: scoreAt(0.5),
    p90: scoreAt(0.9),
  };
}

/** Of few values the interval would reach beyond what a score can be. */
function withinScores(interval: ReturnType<typeof tInterval>): ReturnType<typeof tInterval> {
  if (interval === null) return null;
  return { ...interval, lower: Math.max(0, interval.lower), upper: Math.min(1, interval.upper) };
}
