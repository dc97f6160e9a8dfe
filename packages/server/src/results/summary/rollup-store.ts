import { type Expression, type RawBuilder, sql } from "kysely";
import { toFlag } from "../../platform/storage/flag.ts";
import { isPostgres } from "../../platform/storage/is-postgres.ts";
import type { Micros } from "../../platform/storage/micros.ts";
import type { CountedVerdict } from "../../platform/storage/schema/evaluation-rollup.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { GroupKey } from "../search/summary-dimensions.ts";
import type { SummaryCell } from "./group-totals-store.ts";
import type { RollupFilter } from "./rollup-filter.ts";

/** On PostgreSQL, recent counts that are not folded in yet count as well. One statement reads both tables in the same state. */
type CountsTable = "evaluation_counts" | "evaluation_count_deltas";

/** An account's counts, as a statement yet to be run. Those over all series are a fraction of those by series. */
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
  const folded = isOfAll ? cellsOfAll : cellsBySeries("evaluation_counts");
  if (!isPostgres(reader)) return folded;
  return sql<SummaryCell>`(${folded} union all ${cellsBySeries("evaluation_count_deltas")})`;
}

/** What a filter says of counts. */
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

/** What a filter says of a series, except its run. */
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

/** How often an evaluator gave each score, in thousandths, with a revision of a profile. A score may come twice: add its counts up. */
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
  const folded = countsOf("evaluation_counts");
  return await (isPostgres(reader) ? folded.unionAll(countsOf("evaluation_count_deltas")) : folded).execute();
}

/** Whether any result was stored at exactly this time. */
export async function hasResultAt(reader: Database, time: Micros): Promise<boolean> {
  const { rows } = await sql`select id from evaluation_results where created_at = ${time} limit 1`.execute(
    reader,
  );
  return rows.length > 0;
}

/** Whether the account has results of an evaluator of exactly this name. */
export async function hasResultsOf(
  reader: Database,
  accountId: string,
  evaluatorId: string,
): Promise<boolean> {
  const series = await reader
    .selectFrom("evaluation_series")
    .select("id")
    .where("account_id", "=", accountId)
    .where("evaluator_id", "=", evaluatorId)
    .limit(1)
    .executeTakeFirst();
  return series !== undefined;
}
