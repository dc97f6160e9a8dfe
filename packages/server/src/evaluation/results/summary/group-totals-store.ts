import { type Expression, sql } from "kysely";
import type { CountedVerdict } from "../../../storage/schema/evaluation-rollup.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { type ClusteredCell, type ClusterTotals, withClusterTotals } from "./cluster-totals-store.ts";
import type { GroupKey } from "./summary-dimensions.ts";

/** The totals of the results of a group. */
export interface GroupTotals extends GroupKey {
  count: number;
  passed: number;
  not_passed: number;
  failed: number;
  /** The number of results with a score, their sums, and the nearest ranks of their quantiles in thousandths. */
  scored: number;
  score_sum: number;
  score_sum_of_squares: number;
  p10: number | null;
  p50: number | null;
  p90: number | null;
}

const totalNames = [
  "count",
  "passed",
  "not_passed",
  "failed",
  "scored",
  "score_sum",
  "score_sum_of_squares",
  "p10",
  "p50",
  "p90",
] as const satisfies (keyof GroupTotals)[];

/** Results with the same verdict and the same score in thousandths, or -1 without a score. */
export interface SummaryCell extends GroupKey {
  verdict: CountedVerdict;
  score_mille: number;
  count: number;
  score_sum: number;
  score_sum_of_squares: number;
}

interface WantedTotals {
  cells: Expression<SummaryCell>;
  /** Absent: the sums over clusters are null. */
  clustered?: Expression<ClusteredCell> | undefined;
  columns: readonly (keyof GroupKey)[];
  limit: number;
}

/**
 * The totals of at most `limit` groups of cells. The database adds them up: there may be millions of cells, which would block the main
 * thread. One statement, so that cells and clusters are of the same state.
 */
export async function selectGroupTotals(
  reader: Database,
  { cells, clustered, columns, limit }: WantedTotals,
): Promise<(GroupTotals & Partial<ClusterTotals>)[]> {
  const keys = columns.map((column) => sql.ref(column));
  const groupBy = keys.length === 0 ? sql`` : sql`group by ${sql.join(keys)}`;
  const partitionBy = keys.length === 0 ? sql`` : sql`partition by ${sql.join(keys)}`;
  const counted = (name: string, condition: ReturnType<typeof sql>) =>
    sql`sum(case when ${condition} then count else 0 end) as ${sql.ref(name)}`;
  /** The lowest score that at least this many tenths of all scores do not exceed: the nearest rank. */
  const rankAt = (tenths: number) =>
    sql`min(case when scored > 0 and 10 * up_to >= ${sql.lit(tenths)} * scored_in_all then score_mille end)
      as ${sql.ref(`p${tenths}0`)}`;
  const { rows } = await sql<GroupTotals & Partial<ClusterTotals>>`
    with scores as (
      select ${sql.join([...keys, sql`score_mille`, sql`sum(count) as count`])},
        ${counted("passed", sql`verdict = 'pass'`)},
        ${counted("not_passed", sql`verdict = 'fail'`)},
        ${counted("failed", sql`verdict not in ('pass', 'fail', 'none')`)},
        ${counted("scored", sql`score_mille >= 0`)},
        sum(score_sum) as score_sum, sum(score_sum_of_squares) as score_sum_of_squares
      from ${cells} as cells
      group by ${sql.join([...keys, sql`score_mille`])}
      -- A correction leaves nothing of what it moved elsewhere.
      having sum(count) > 0
    ), ranked as (
      select scores.*, sum(scored) over (${partitionBy} order by score_mille) as up_to,
        sum(scored) over (${partitionBy}) as scored_in_all
      from scores
    ), totals as (
    select ${sql.join([...keys, sql`sum(count) as count`])},
      sum(passed) as passed, sum(not_passed) as not_passed, sum(failed) as failed, sum(scored) as scored,
      sum(score_sum) as score_sum, sum(score_sum_of_squares) as score_sum_of_squares,
      ${sql.join([1, 5, 9].map(rankAt))}
    from ranked ${groupBy} having count(*) > 0 limit ${limit}
    ) ${clustered === undefined ? sql`select * from totals` : withClusterTotals(clustered, columns, totalNames)}`.execute(
    reader,
  );
  return rows;
}
