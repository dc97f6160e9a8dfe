import { type Expression, type RawBuilder, sql } from "kysely";
import { isPostgres } from "../../platform/storage/is-postgres.ts";
import type { CountedVerdict } from "../../platform/storage/schema/evaluation-rollup.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { GroupKey } from "../search/summary-dimensions.ts";
import {
  type ClusteredCell,
  type ClusterTotals,
  clusterTotalNames,
  withClusters,
} from "./cluster-totals-store.ts";

/** The totals of the results of a group. */
export interface GroupTotals extends GroupKey {
  count: number;
  passed: number;
  not_passed: number;
  failed: number;
  not_applicable: number;
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
  "not_applicable",
  "scored",
  "score_sum",
  "score_sum_of_squares",
] as const satisfies (keyof GroupTotals)[];

const rankNames = ["p10", "p50", "p90"] as const satisfies (keyof GroupTotals)[];

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
 * The totals of at most `limit` groups of cells. The database adds them up, as millions of cells would block the main thread,
 * and in one statement, so that cells and clusters are of the same state. Cells are added up by verdict first, which is faster
 * with few columns.
 */
export async function selectGroupTotals(
  reader: Database,
  { cells, clustered, columns, limit }: WantedTotals,
): Promise<(GroupTotals & Partial<ClusterTotals>)[]> {
  const keys = columns.map((column) => sql.ref(column));
  const groupBy = keys.length === 0 ? sql`` : sql`group by ${sql.join(keys)}`;
  const partitionBy = keys.length === 0 ? sql`` : sql`partition by ${sql.join(keys)}`;
  // PostgreSQL adds up 64-bit integers as decimals, which is slow.
  const count = isPostgres(reader) ? sql`cast(count as double precision)` : sql`count`;
  const counted = (name: string, condition: ReturnType<typeof sql>) =>
    sql`sum(case when ${condition} then count else 0 end) as ${sql.ref(name)}`;
  /** The lowest score that at least this many tenths of all scores do not exceed: the nearest rank. */
  const rankAt = (tenths: number) =>
    sql`min(case when score_mille >= 0 and 10 * up_to >= ${sql.lit(tenths)} * scored_in_all then score_mille end)
      as ${sql.ref(`p${tenths}0`)}`;
  const parts = [
    { table: "totals", names: totalNames },
    { table: "ranks", names: rankNames },
    ...(clustered === undefined ? [] : [{ table: "clusters", names: clusterTotalNames }]),
  ];
  const allNames = parts.flatMap(({ names }) => [...names]);
  const { rows } = await sql<GroupTotals & Partial<ClusterTotals>>`
    with cells as materialized (
      select ${sql.join([...keys, sql`verdict, score_mille`])}, sum(${count}) as count,
        sum(score_sum) as score_sum, sum(score_sum_of_squares) as score_sum_of_squares
      from ${cells} as all_cells
      group by ${sql.join([...keys, sql`score_mille, verdict`])}
      -- A correction leaves nothing of what it moved elsewhere.
      having sum(${count}) > 0
    ), totals as materialized (
      select ${sql.join([...keys, sql`sum(count) as count`])},
        ${counted("passed", sql`verdict = 'pass'`)},
        ${counted("not_passed", sql`verdict = 'fail'`)},
        ${counted("failed", sql`verdict not in ('pass', 'fail', 'none', 'not_applicable')`)},
        ${counted("not_applicable", sql`verdict = 'not_applicable'`)},
        ${counted("scored", sql`score_mille >= 0`)},
        sum(score_sum) as score_sum, sum(score_sum_of_squares) as score_sum_of_squares
      from cells ${groupBy} having count(*) > 0 limit ${limit}
    ), walk as (
      -- Each group's total comes before its scores, from the lowest up.
      select ${sql.join([...keys, sql`-1 as score_mille, 0 as count, scored`])} from totals
      union all
      select ${sql.join([...keys, sql`score_mille, count, null`])} from cells where score_mille >= 0
    ), walked as (
      select ${sql.join([...keys, sql`score_mille`])}, sum(count) over scores as up_to, max(scored) over scores as scored_in_all
      from walk window scores as (${partitionBy} order by score_mille rows unbounded preceding)
    ), ranks as (
      select ${sql.join([...keys, ...[1, 5, 9].map(rankAt)])} from walked ${groupBy}
    ) ${clustered === undefined ? sql`` : withClusters(clustered, columns)}
    -- Not a join: names may be null, for which PostgreSQL would compare each group with each.
    select ${sql.join([...keys, ...allNames.map((name) => sql`max(${sql.ref(name)}) as ${sql.ref(name)}`)])} from (${sql.join(
      parts.map(
        ({ table, names }) =>
          sql`select ${sql.join([...keys, ...allNames.map(orNull(names))])} from ${sql.ref(table)}`,
      ),
      sql` union all `,
    )}) as parts ${groupBy} having max(count) is not null`.execute(reader);
  return rows;
}

function orNull(names: readonly string[]): (name: string) => RawBuilder<unknown> {
  return (name) =>
    names.includes(name) ? sql.ref(name) : sql`cast(null as double precision) as ${sql.ref(name)}`;
}
