import { EvaluationStatus } from "@presage/contract";
import { type Expression, type RawBuilder, sql } from "kysely";
import { microsPerDay } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { toThousandths } from "../result.ts";
import { columnMatches, type GroupKey, type ResultFilter } from "../search/filter.ts";
import { notIndexable, otherConditions } from "../search/search-store.ts";
import type { ClusteredCell, SummaryCell } from "./summary-store.ts";

type Fragment = RawBuilder<unknown>;

const statusesWithoutVerdict = EvaluationStatus.options.filter((status) => status !== "success");

interface ClusteredFilter {
  filter: ResultFilter;
  columns: readonly (keyof GroupKey)[];
  /** The name of the tag to group by. */
  tag: string | undefined;
  limit: number;
}

/** How each column of a group is read from a result, so that cells look like those of the rollup. */
const columnSources: Record<keyof GroupKey, Fragment> = {
  evaluator_id: sql`result.evaluator_id`,
  evaluator_family: sql`coalesce(result.evaluator_family, '')`,
  profile_name: sql`coalesce(result.profile_name, '')`,
  profile_public_id: sql`coalesce(result.profile_public_id, '')`,
  profile_revision: sql`coalesce(result.profile_revision, 0)`,
  app: sql`result.app`,
  run_id: sql`coalesce(result.run_id, '')`,
  day: sql`result.created_at / ${sql.lit(microsPerDay)}`,
  tag: sql`tagged.value`,
};

/** All results of a filter, one row per result, as an unexecuted statement. `tag` is the name of the tag to group by. */
export function resultCells(
  accountId: string,
  filter: ResultFilter,
  columns: readonly (keyof GroupKey)[],
  tag: string | undefined,
): Expression<SummaryCell> {
  const resultsOf = (status: Fragment) => sql`select ${sql.join([
    ...groupColumns(columns),
    sql`case when result.status <> 'success' then result.status
      when result.counted_pass is null then 'none'
      when result.counted_pass = 1 then 'pass' else 'fail' end as verdict`,
    sql`coalesce(result.score_mille, -1) as score_mille`,
    sql`1 as count`,
    sql`coalesce(result.counted_score, 0) as score_sum`,
    // PostgreSQL rejects a product too small for a double; such a square adds nothing.
    sql`coalesce(case when result.counted_score > 1e-150 then result.counted_score * result.counted_score end, 0)
      as score_sum_of_squares`,
  ])}
    ${fromResults(accountId, filter, tag)} and ${status}`;
  const parts = statusConditions(filter.status).map(resultsOf);
  return sql<SummaryCell>`(${tagValues(accountId, tag)} ${sql.join(parts, sql` union all `)})`;
}

/** Conditions that together let results of a status through, or all; each belongs into a statement of its own. */
export function statusConditions(status: ResultFilter["status"]): Fragment[] {
  // Literally as in the conditions of the two kinds of partial indexes.
  const verdicts = sql`result.status = 'success'`;
  // Their index has each status in the order of ids, which a range of ids needs.
  const others = sql`result.status <> 'success' and result.status in (${sql.join(statusesWithoutVerdict)})`;
  return status === "success" ? [verdicts] : status ? [others] : [verdicts, others];
}

/** The results of a filter that have a verdict and are in a cluster, at most `limit` of them, as an unexecuted statement. */
export function clusteredCells(
  reader: Database,
  accountId: string,
  { filter, columns, tag, limit }: ClusteredFilter,
): Expression<ClusteredCell> {
  const fields = [
    ...groupColumns(columns),
    sql.ref("result.cluster_id"),
    sql`result.counted_pass as pass`,
    sql`result.counted_score as score`,
  ];
  const isClustered = sql`result.cluster_id is not null`;
  // In the order in which they lie on the disk; SQLite would follow the index of clusters from one evaluator to the next.
  const those = isPostgres(reader) ? isClustered : sql`${notIndexable(isClustered)} order by result.id`;
  return sql<ClusteredCell>`(${tagValues(accountId, tag)} select ${sql.join(fields)}
    ${fromResults(accountId, filter, tag)} and result.status = 'success' and ${those} limit ${limit})`;
}

/** Whether the account has results in clusters, of one evaluator if it is given. */
export async function hasClusters(reader: Database, accountId: string, evaluatorId: string | undefined) {
  const ofEvaluator = evaluatorId === undefined ? sql`` : sql`and evaluator_id = ${evaluatorId}`;
  const { rows } = await sql`select id from evaluation_results
    where account_id = ${accountId} ${ofEvaluator} and status = 'success' and cluster_id is not null
    -- Otherwise PostgreSQL may read the table until it meets one.
    order by evaluator_id, id limit 1`.execute(reader);
  return rows.length > 0;
}

/** The columns of a group, as they are read from `result` and, for a tag, `tagged`. */
export function groupColumns(columns: readonly (keyof GroupKey)[]): Fragment[] {
  return columns.map((column) => sql`${columnSources[column]} as ${sql.ref(column)}`);
}

function fromResults(accountId: string, filter: ResultFilter, tag: string | undefined): Fragment {
  const conditions = [sql`result.account_id = ${accountId}`, ...filterConditions(accountId, filter)];
  return sql`from evaluation_results as result
    ${tag === undefined ? sql`` : sql`left join tagged on tagged.result_id = result.id`}
    where ${sql.join(conditions, sql` and `)}`;
}

/** The values of the tag to group by, found once instead of once for each result. */
function tagValues(accountId: string, tag: string | undefined): Fragment {
  if (tag === undefined) return sql``;
  return sql`with tagged as materialized (
    select result_id, value from evaluation_tags where account_id = ${accountId} and name = ${tag})`;
}

/** What a filter says of `result`. */
export function filterConditions(accountId: string, filter: ResultFilter): Fragment[] {
  const { tags, minScore, maxScore, createdAfter, createdBefore, afterId, beforeId } = filter;
  const bounds: [column: string, operator: Fragment, value: number | undefined][] = [
    ["counted_score", sql`>=`, minScore],
    ["counted_score", sql`<=`, maxScore],
    // The same again, rounded, for the index.
    ["score_mille", sql`>=`, toThousandthsWithin(minScore)],
    ["score_mille", sql`<=`, toThousandthsWithin(maxScore)],
    ["created_at", sql`>`, createdAfter],
    ["created_at", sql`<`, createdBefore],
    ["id", sql`>`, afterId],
    ["id", sql`<`, beforeId],
  ];
  return [
    ...(filter.status === undefined ? [] : [sql`result.status = ${filter.status}`]),
    ...columnMatches(filter).map(({ column, value }) => sql`${sql.ref(`result.${column}`)} = ${value}`),
    ...otherConditions(filter),
    ...bounds.flatMap(([column, operator, value]) =>
      value === undefined ? [] : [sql`${sql.ref(`result.${column}`)} ${operator} ${value}`],
    ),
    ...Object.entries(tags ?? {}).map(
      ([name, value]) => sql`result.id in (select result_id from evaluation_tags
        where account_id = ${accountId} and name = ${name} and value = ${value})`,
    ),
  ];
}

/** Bounds beyond the range of scores would not fit the column. */
function toThousandthsWithin(score: number | undefined): number | undefined {
  return score === undefined ? undefined : toThousandths(Math.min(Math.max(score, 0), 1));
}
