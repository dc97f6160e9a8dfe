import { type Expression, type RawBuilder, sql } from "kysely";
import type { Flag } from "../../platform/storage/flag.ts";
import type { GroupKey } from "../search/summary-dimensions.ts";

/** A result of a cluster, with the verdict and the score that count. */
export interface ClusteredCell extends GroupKey {
  cluster_id: number;
  pass: Flag | null;
  score: number | null;
}

/** Sums over the clusters of a group; null where it has none. */
export interface ClusterTotals {
  /** The results that the other figures are about. */
  clustered_results: number | null;
  /** Clusters with verdicts, and their sums: see `ClusteredMoments`. */
  judged_clusters: number | null;
  judged_in_clusters: number | null;
  passed_in_clusters: number | null;
  passed_squares: number | null;
  judged_passed: number | null;
  judged_squares: number | null;
  /** The same of scores. */
  scored_clusters: number | null;
  scored_in_clusters: number | null;
  score_sum_in_clusters: number | null;
  /** Of the scores themselves, not of their sums. */
  scores_squared: number | null;
  score_squares: number | null;
  scored_scores: number | null;
  scored_squares: number | null;
}

export const clusterTotalNames = [
  "clustered_results",
  "judged_clusters",
  "judged_in_clusters",
  "passed_in_clusters",
  "passed_squares",
  "judged_passed",
  "judged_squares",
  "scored_clusters",
  "scored_in_clusters",
  "score_sum_in_clusters",
  "scores_squared",
  "score_squares",
  "scored_scores",
  "scored_squares",
] as const satisfies (keyof ClusterTotals)[];

/** Another part of a statement: `clusters`, the sums over the clusters of each group. Numbers come first, as SQLite sorts by them faster. */
export function withClusters(
  cells: Expression<ClusteredCell>,
  columns: readonly (keyof GroupKey)[],
): RawBuilder<unknown> {
  const keys = columns.map((column) => sql.ref(column));
  const groupBy = keys.length === 0 ? sql`` : sql`group by ${sql.join(keys)}`;
  return sql`, sums as (
      select ${sql.join([...keys, sql`count(*) as results`, sql`count(pass) as judged`])}, sum(pass) as passed, count(score) as scored,
        sum(score) as score_sum, sum(case when score > 1e-150 then score * score else 0 end) as squares
      from ${cells} as all_results group by ${sql.join([sql`cluster_id`, ...keys])}
    ), clusters as (
      select ${sql.join([...keys, sql`sum(results) as clustered_results`])},
        sum(case when judged > 0 then 1 else 0 end) as judged_clusters,
        sum(judged) as judged_in_clusters, sum(passed) as passed_in_clusters, sum(passed * passed) as passed_squares,
        sum(judged * passed) as judged_passed, sum(judged * judged) as judged_squares,
        sum(case when scored > 0 then 1 else 0 end) as scored_clusters, sum(scored) as scored_in_clusters,
        sum(score_sum) as score_sum_in_clusters, sum(squares) as scores_squared,
        sum(case when score_sum > 1e-150 then score_sum * score_sum else 0 end) as score_squares,
        sum(scored * score_sum) as scored_scores, sum(scored * scored) as scored_squares
      from sums ${groupBy}
    )`;
}
