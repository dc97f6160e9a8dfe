import type { EvaluationSummaryGroup } from "@presage/contract";
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

/** A group of the response, with the key as the store has it; null where there are too few results. */
export type SummaryGroup = Omit<EvaluationSummaryGroup, "key"> & { key: GroupKey };

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
  const { count, scored, passed, not_passed, not_applicable, failed, score_sum } = totals;
  const judged = passed + not_passed;
  const intervals = hasIntervals ? intervalsOf(totals) : noIntervals;
  return {
    key: Object.fromEntries(columns.map((column) => [column, totals[column]])),
    count,
    scored,
    passed,
    not_passed,
    not_applicable,
    failed,
    interval_method: intervals.interval_method,
    clusters: intervals.clusters,
    pass_rate: judged === 0 ? null : passed / judged,
    pass_rate_interval: intervals.pass_rate_interval,
    mean_score: scored === 0 ? null : score_sum / scored,
    mean_score_interval: intervals.mean_score_interval,
    p10: fromThousandths(totals.p10),
    p50: fromThousandths(totals.p50),
    p90: fromThousandths(totals.p90),
  };
}

type Intervals = Pick<
  SummaryGroup,
  "interval_method" | "clusters" | "pass_rate_interval" | "mean_score_interval"
>;

const noIntervals: Intervals = {
  interval_method: null,
  clusters: null,
  pass_rate_interval: null,
  mean_score_interval: null,
};

function intervalsOf(totals: GroupTotals & Partial<ClusterTotals>): Intervals {
  const scores = momentsOfScores(totals);
  if (!totals.clustered_results) {
    const { passed, not_passed, scored, score_sum } = totals;
    return {
      interval_method: "independent",
      clusters: null,
      pass_rate_interval: wilsonInterval(passed, passed + not_passed),
      mean_score_interval: areVerdicts(totals)
        ? wilsonInterval(score_sum, scored)
        : scoreInterval(scores, clusteredError(scores)),
    };
  }
  const verdicts = momentsOfVerdicts(totals);
  const intervalOfScores = areVerdicts(totals) ? rateInterval : scoreInterval;
  return {
    interval_method: "clustered",
    clusters: verdicts.count > 0 ? verdicts.clusters : scores.clusters,
    pass_rate_interval: rateInterval(verdicts, clusteredError(verdicts)),
    mean_score_interval: intervalOfScores(scores, clusteredError(scores)),
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
