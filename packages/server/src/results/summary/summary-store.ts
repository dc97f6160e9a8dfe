import { type Expression, type RawBuilder, type SqlBool, sql } from "kysely";
import { type Flag, type Micros, microsPerDay, microsPerMs, toFlag } from "../../platform/storage/columns.ts";
import type { CountedVerdict } from "../../platform/storage/schema/results.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import type { Dimension, GroupKey, ResultFilter } from "../search/filter.ts";

/** A result of a cluster, with the verdict and the score that count. */
export interface ClusteredCell extends GroupKey {
  cluster_id: number;
  pass: Flag | null;
  score: number | null;
}

const clusterTotalNames = [
  // The results that the other figures are about.
  "clustered_results",
  // Clusters with verdicts, and their sums: see `ClusteredMoments`.
  "judged_clusters",
  "judged_in_clusters",
  "passed_in_clusters",
  "passed_squares",
  "judged_passed",
  "judged_squares",
  // The same for scores.
  "scored_clusters",
  "scored_in_clusters",
  "score_sum_in_clusters",
  // From the squares of the scores themselves, not of their sums.
  "scores_squared",
  "score_squares",
  "scored_scores",
  "scored_squares",
] as const;

/** Sums over the clusters of a group; null if it has none. */
export type ClusterTotals = Record<(typeof clusterTotalNames)[number], number | null>;

/** Another part of a statement, `clusters`: sums over the clusters of each group. Numbers come first, as SQLite sorts by them faster. */
function withClusters(
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

const totalNames = [
  "count",
  "passed",
  "not_passed",
  "failed",
  "not_applicable",
  // The number of results with a score, and their sums.
  "scored",
  "score_sum",
  "score_sum_of_squares",
] as const;

/** The nearest ranks of the quantiles of scores, in thousandths. */
const rankNames = ["p10", "p50", "p90"] as const;

/** The totals of the results of a group. */
export type GroupTotals = GroupKey &
  Record<(typeof totalNames)[number], number> &
  Record<(typeof rankNames)[number], number | null>;

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
  /** If absent, the sums over clusters are null. */
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
      -- A correction leaves a count of 0 where it moved a verdict away.
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

/** The filters that the rollup has columns for. A filter that is added later has none. */
const rollupNames = [
  "app",
  "evaluatorId",
  "isExternal",
  "evaluatorFamily",
  "profileName",
  "profilePublicId",
  "profileRevision",
  "runId",
  "hasRun",
  "pass",
  "status",
] as const satisfies (keyof ResultFilter)[];
const rollupFields: ReadonlySet<string> = new Set(rollupNames);

/** A filter that the rollup can answer. */
export interface RollupFilter extends Pick<ResultFilter, (typeof rollupNames)[number]> {
  /** The first day, in days since 1970-01-01 UTC. */
  fromDay?: number;
  /** The day after the last. */
  untilDay?: number;
  /** The rollup is right only if no result was stored at exactly this time. */
  exceptAt?: Micros;
}

/** The filter in terms of the rollup, or undefined if the rollup cannot answer it. */
export function toRollupFilter(
  filter: ResultFilter,
  dimensions: readonly Dimension[],
): RollupFilter | undefined {
  const { createdAfter, createdBefore, tags, ...others } = filter;
  const isOther = Object.entries(others).some(
    ([name, value]) => value !== undefined && !rollupFields.has(name),
  );
  if (isOther || Object.keys(tags ?? {}).length > 0 || dimensions.includes("tag")) return undefined;
  const from = createdAfter === undefined ? {} : daysAfter(createdAfter);
  const until = createdBefore === undefined ? {} : daysBefore(createdBefore);
  return from === undefined || until === undefined ? undefined : { ...others, ...from, ...until };
}

/** A tag to group by, or one that results must have. */
export interface CountedTag {
  name: string;
  /** If absent, any value or none. */
  value?: string | undefined;
}

/** The filter in terms of the rollup by tag, which knows one tag and no runs, or undefined if it cannot answer it. */
export function toTagRollupFilter(
  filter: ResultFilter,
  dimensions: readonly Dimension[],
  tagToGroupBy: string | undefined,
): { rollup: RollupFilter; tag: CountedTag } | undefined {
  const { tags = {}, ...others } = filter;
  const wanted: CountedTag[] = Object.entries(tags).map(([name, value]) => ({ name, value }));
  if (tagToGroupBy !== undefined) wanted.push({ name: tagToGroupBy });
  const [tag, ...more] = wanted;
  const isByRun = filter.runId !== undefined || filter.hasRun !== undefined || dimensions.includes("run");
  if (tag === undefined || more.length > 0 || isByRun) return undefined;
  const rollup = toRollupFilter(
    others,
    dimensions.filter((dimension) => dimension !== "tag"),
  );
  return rollup && { rollup, tag };
}

/** Results are stored at whole milliseconds. */
function daysAfter(time: Micros): Pick<RollupFilter, "fromDay" | "exceptAt"> | undefined {
  const firstTime = (Math.floor(time / microsPerMs) + 1) * microsPerMs;
  if (firstTime % microsPerDay === 0) return { fromDay: firstTime / microsPerDay };
  // Midnight includes the whole day, except for a result of exactly that instant.
  return time % microsPerDay === 0 ? { fromDay: time / microsPerDay, exceptAt: time } : undefined;
}

function daysBefore(time: Micros): Pick<RollupFilter, "untilDay"> | undefined {
  const endTime = Math.ceil(time / microsPerMs) * microsPerMs;
  return endTime % microsPerDay === 0 ? { untilDay: endTime / microsPerDay } : undefined;
}

/** On PostgreSQL, recent counts that are not merged yet count as well. One statement reads both tables in the same state. */
type CountsTable = "evaluation_counts" | "evaluation_count_deltas";

/** An account's counts, as an unexecuted statement. The counts over all series have far fewer rows than those by series. */
export function rollupCells(
  reader: Database,
  accountId: string,
  filter: RollupFilter,
  columns: readonly Exclude<keyof GroupKey, "tag">[],
): Expression<SummaryCell> {
  const { runId, hasRun } = filter;
  const ofRun = runId === undefined ? [] : [["run_id", runId] as const];
  const ofSeries = [...seriesMatches(filter), ...ofRun];
  const spansRuns = runId === undefined && hasRun === undefined && !columns.includes("run_id");
  const conditions = cellConditions(filter);
  const figures = ["verdict", "score_mille", "count", "score_sum", "score_sum_of_squares"] as const;
  const cellsBySeries = (table: CountsTable) => {
    let query = reader
      .selectFrom("evaluation_series as series")
      .innerJoin(`${table} as counts`, "counts.series_id", "series.id")
      .select([...columns, ...figures])
      .where("series.account_id", "=", accountId)
      .where("spans_runs", "=", toFlag(spansRuns))
      .where(({ and }) => and(conditions));
    for (const [column, value] of ofSeries) query = query.where(column, "=", value);
    if (hasRun !== undefined) query = query.where("run_id", hasRun ? "<>" : "=", "");
    return query;
  };
  const cellsOfAll = reader
    .selectFrom("evaluation_total_counts")
    .select([...columns.filter((column) => column === "day"), ...figures])
    .where("account_id", "=", accountId)
    .where(({ and }) => and(conditions));
  const isOfAll = spansRuns && ofSeries.length === 0 && columns.every((column) => column === "day");
  const merged = isOfAll ? cellsOfAll : cellsBySeries("evaluation_counts");
  if (!isPostgres(reader)) return merged;
  return sql<SummaryCell>`(${merged} union all ${cellsBySeries("evaluation_count_deltas")})`;
}

/** The conditions that a filter puts on counts. */
function cellConditions(filter: RollupFilter): RawBuilder<boolean>[] {
  const verdicts = verdictsOf(filter);
  const conditions: RawBuilder<boolean>[] = [];
  // PostgreSQL does not accept an empty list.
  if (verdicts?.length === 0) conditions.push(sql`1 = 0`);
  else if (verdicts !== undefined) conditions.push(sql`verdict in (${sql.join(verdicts)})`);
  if (filter.fromDay !== undefined) conditions.push(sql`day >= ${filter.fromDay}`);
  if (filter.untilDay !== undefined) conditions.push(sql`day < ${filter.untilDay}`);
  return conditions;
}

/** The columns of a series that a filter fixes, except its run. */
export function seriesMatches(filter: RollupFilter) {
  const matches = [
    ["app", filter.app],
    ["evaluator_id", filter.evaluatorId],
    ["evaluator_family", filter.evaluatorFamily],
    ["profile_name", filter.profileName],
    ["profile_public_id", filter.profilePublicId],
    ["profile_revision", filter.profileRevision],
    // Only imported results have no family.
    ["evaluator_family", filter.isExternal && ""],
  ] as const;
  return matches.flatMap(([column, value]) => (value === undefined ? [] : [[column, value] as const]));
}

/** The verdicts that a filter matches; undefined for all. */
export function verdictsOf({ pass, status }: RollupFilter): CountedVerdict[] | undefined {
  const ofStatus: CountedVerdict[] | undefined =
    status === "success" ? ["pass", "fail", "none"] : status === undefined ? undefined : [status];
  if (pass === undefined) return ofStatus;
  const verdict = pass ? "pass" : "fail";
  return ofStatus === undefined || ofStatus.includes(verdict) ? [verdict] : [];
}

/** How often an evaluator gave each score, in thousandths, with a profile's revision. A score may appear twice: add up its counts. */
export async function selectScoreCounts(
  reader: Database,
  accountId: string,
  evaluatorId: string,
  profile: { publicId: string; revision: number },
): Promise<{ score_mille: number; count: number }[]> {
  const countsOf = (table: CountsTable) =>
    reader
      .selectFrom("evaluation_series as series")
      .innerJoin(`${table} as counts`, "counts.series_id", "series.id")
      .select("score_mille")
      .select((cells) => cells.fn.sum<number>("count").as("count"))
      .where("account_id", "=", accountId)
      .where("evaluator_id", "=", evaluatorId)
      .where("profile_public_id", "=", profile.publicId)
      .where("profile_revision", "=", profile.revision)
      .where("spans_runs", "=", 1)
      .where("score_mille", ">=", 0)
      .groupBy("score_mille");
  const merged = countsOf("evaluation_counts");
  return await (isPostgres(reader) ? merged.unionAll(countsOf("evaluation_count_deltas")) : merged).execute();
}

/** Whether any result was stored at exactly this time. */
export async function hasResultAt(reader: Database, time: Micros): Promise<boolean> {
  const { rows } = await sql`select id from evaluation_results where created_at = ${time} limit 1`.execute(
    reader,
  );
  return rows.length > 0;
}

/** Whether the account has results of an evaluator of exactly this name. */
export async function hasResultsOf(reader: Database, accountId: string, evaluatorId: string) {
  const series = await reader
    .selectFrom("evaluation_series")
    .select("id")
    .where("account_id", "=", accountId)
    .where("evaluator_id", "=", evaluatorId)
    // Every result is also counted in such a series; series of single runs may be many.
    .where("spans_runs", "=", 1)
    .where(hasCounts(reader))
    .limit(1)
    .executeTakeFirst();
  return series !== undefined;
}

/** Whether a series has results: it stays when its last result is deleted. */
export function hasCounts(reader: Database): RawBuilder<SqlBool> {
  const isIn = (table: CountsTable) =>
    sql`exists (select 1 from ${sql.table(table)} where series_id = evaluation_series.id and count > 0)`;
  const merged = isIn("evaluation_counts");
  return isPostgres(reader) ? sql`(${merged} or ${isIn("evaluation_count_deltas")})` : sql`${merged}`;
}
