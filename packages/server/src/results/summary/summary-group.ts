import {
  type ClusteredMoments,
  clusteredError,
  rateInterval,
  scoreInterval,
  wilsonInterval,
} from "../../platform/statistics/intervals.ts";
import { fromThousandths } from "../result.ts";
import type { GroupKey } from "../search/filter.ts";
import type { ClusterTotals, GroupTotals } from "./summary-store.ts";

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
  notApplicable: number;
  /** How the intervals were made; null: they were not. */
  intervalMethod: "clustered" | "independent" | null;
  /** How many clusters the verdicts are in, or the scores where there is no verdict. Null unless the intervals are clustered. */
  clusters: number | null;
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
  totals: readonly (GroupTotals & Partial<ClusterTotals>)[],
  columns: readonly (keyof GroupKey)[],
  hasIntervals: boolean,
): SummaryGroup[] {
  return totals
    .map((group) => ({ name: nameOf(group, columns), group }))
    .sort(
      (a, b) =>
        (a.group.day ?? 0) - (b.group.day ?? 0) ||
        b.group.count - a.group.count ||
        (a.name < b.name ? -1 : 1),
    )
    .map(({ group }) => toSummaryGroup(group, columns, hasIntervals));
}

/** Unique for each group: no stored text contains a NUL. */
function nameOf(key: GroupKey, columns: readonly (keyof GroupKey)[]): string {
  return columns.map((column) => (key[column] === null ? "\0" : `\0=${key[column]}`)).join("");
}

function toSummaryGroup(
  totals: GroupTotals & Partial<ClusterTotals>,
  columns: readonly (keyof GroupKey)[],
  hasIntervals: boolean,
): SummaryGroup {
  const { count, scored, passed, not_passed: notPassed, failed, score_sum: sum } = totals;
  const judged = passed + notPassed;
  return {
    key: Object.fromEntries(columns.map((column) => [column, totals[column]])),
    count,
    scored,
    passed,
    notPassed,
    failed,
    notApplicable: totals.not_applicable,
    ...(hasIntervals ? intervalsOf(totals) : noIntervals),
    passRate: judged === 0 ? null : passed / judged,
    meanScore: scored === 0 ? null : sum / scored,
    p10: fromThousandths(totals.p10),
    p50: fromThousandths(totals.p50),
    p90: fromThousandths(totals.p90),
  };
}

type Intervals = Pick<SummaryGroup, "intervalMethod" | "clusters" | "passRateInterval" | "meanScoreInterval">;

const noIntervals: Intervals = {
  intervalMethod: null,
  clusters: null,
  passRateInterval: null,
  meanScoreInterval: null,
};

function intervalsOf(totals: GroupTotals & Partial<ClusterTotals>): Intervals {
  const scores = momentsOfScores(totals);
  if (!totals.clustered_results) {
    const { passed, not_passed, scored, score_sum } = totals;
    return {
      intervalMethod: "independent",
      clusters: null,
      passRateInterval: wilsonInterval(passed, passed + not_passed),
      meanScoreInterval: areVerdicts(totals)
        ? wilsonInterval(score_sum, scored)
        : scoreInterval(scores, clusteredError(scores)),
    };
  }
  const verdicts = momentsOfVerdicts(totals);
  const intervalOfScores = areVerdicts(totals) ? rateInterval : scoreInterval;
  return {
    intervalMethod: "clustered",
    clusters: verdicts.count > 0 ? verdicts.clusters : scores.clusters,
    passRateInterval: rateInterval(verdicts, clusteredError(verdicts)),
    meanScoreInterval: intervalOfScores(scores, clusteredError(scores)),
  };
}

/** Whether all scores are 0 or 1: one number has one interval. */
function areVerdicts({ score_sum, score_sum_of_squares }: GroupTotals): boolean {
  return score_sum === score_sum_of_squares;
}

/** A result without a cluster is one of its own. */
function momentsOfVerdicts(totals: GroupTotals & Partial<ClusterTotals>): ClusteredMoments {
  const { passed, not_passed } = totals;
  const count = passed + not_passed;
  const alone = count - (totals.judged_in_clusters ?? 0);
  const aloneAndPassed = passed - (totals.passed_in_clusters ?? 0);
  return {
    clusters: (totals.judged_clusters ?? 0) + alone,
    count,
    sum: passed,
    sumSquares: (totals.passed_squares ?? 0) + aloneAndPassed,
    countSums: (totals.judged_passed ?? 0) + aloneAndPassed,
    countSquares: (totals.judged_squares ?? 0) + alone,
  };
}

function momentsOfScores(totals: GroupTotals & Partial<ClusterTotals>): ClusteredMoments {
  const { scored: count, score_sum: sum, score_sum_of_squares } = totals;
  const alone = count - (totals.scored_in_clusters ?? 0);
  return {
    clusters: (totals.scored_clusters ?? 0) + alone,
    count,
    sum,
    sumSquares: (totals.score_squares ?? 0) + (score_sum_of_squares - (totals.scores_squared ?? 0)),
    countSums: (totals.scored_scores ?? 0) + (sum - (totals.score_sum_in_clusters ?? 0)),
    countSquares: (totals.scored_squares ?? 0) + alone,
  };
}
