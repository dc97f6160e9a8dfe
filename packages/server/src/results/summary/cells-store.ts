import { EvaluationStatus } from "@presage/contract";
import { type Expression, type RawBuilder, sql } from "kysely";
import { microsPerDay } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import { toThousandths } from "../result.ts";
import { columnMatches, type GroupKey, type ResultFilter } from "../search/filter.ts";
import { notIndexable, otherConditions } from "../search/search-store.ts";
import {
  type ClusteredCell,
  type CountedTag,
  type RollupFilter,
  rollupCells,
  type SummaryCell,
  seriesMatches,
  verdictsOf,
} from "./summary-store.ts";

export type Fragment = RawBuilder<unknown>;
const statusesWithoutVerdict = EvaluationStatus.options.filter((status) => status !== "success");

interface Wanted<Filter, Tag> {
  accountId: string;
  filter: Filter;
  columns: readonly (keyof GroupKey)[];
  tag: Tag;
}

/** Cells of results. `tag` is the name of the tag to group by. */
type WantedResults = Wanted<ResultFilter, string | undefined>;
/** Cells of counts by tag. */
type WantedCounts = Wanted<RollupFilter, CountedTag>;

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

/** How a result counts now: with the latest correction's verdict. */
const countedVerdict = {
  verdict: verdictOf(sql`result.counted_pass`),
  score_mille: sql`coalesce(result.score_mille, -1)`,
  score: sql`coalesce(result.counted_score, 0)`,
};

/** All results of a filter, one row per result, as an unexecuted statement. */
export function resultCells({ accountId, filter, columns, tag }: WantedResults): Expression<SummaryCell> {
  const resultsOf = (status: Fragment) => sql`select ${cellColumns(columns, countedVerdict, sql`1`)}
    ${fromResults(accountId, filter, tag)} and ${status}`;
  const parts = statusConditions(filter.status).map(resultsOf);
  return sql<SummaryCell>`(${tagValues(accountId, tag)} ${sql.join(parts, sql` union all `)})`;
}

/** The results of a filter that have a verdict and are in a cluster, at most `limit` of them, as an unexecuted statement. */
export function clusteredCells(
  reader: Database,
  { accountId, filter, columns, tag, limit }: WantedResults & { limit: number },
): Expression<ClusteredCell> {
  const fields = [
    ...groupColumns(columns),
    sql.ref("result.cluster_id"),
    sql`result.counted_pass as pass`,
    sql`result.counted_score as score`,
  ];
  const isClustered = sql`result.cluster_id is not null`;
  // In the order on disk; SQLite would follow the index of clusters from one evaluator to the next.
  const those = isPostgres(reader) ? isClustered : sql`${notIndexable(isClustered)} order by result.id`;
  return sql<ClusteredCell>`(${tagValues(accountId, tag)} select ${sql.join(fields)}
    ${fromResults(accountId, filter, tag)} and result.status = 'success' and ${those} limit ${limit})`;
}

/** Whether the account has results in clusters, of one evaluator if it is given. */
export async function hasClusters(reader: Database, accountId: string, evaluatorId: string | undefined) {
  const ofEvaluator = evaluatorId === undefined ? sql`` : sql`and evaluator_id = ${evaluatorId}`;
  const { rows } = await sql`select id from evaluation_results
    where account_id = ${accountId} ${ofEvaluator} and status = 'success' and cluster_id is not null
    -- Without the order, PostgreSQL may read the table until it finds one.
    order by evaluator_id, id limit 1`.execute(reader);
  return rows.length > 0;
}

/**
 * An account's counts of results with a tag, as an unexecuted statement. The counts contain the evaluators' verdicts; the few that
 * people corrected are replaced here, all in one statement, so that each result is in it once.
 */
export function tagCells(reader: Database, wanted: WantedCounts): Expression<SummaryCell> {
  const { accountId, filter, columns } = wanted;
  const keys = columns.map((column) => sql.ref(column));
  const verdicts = verdictsOf(filter);
  const isWanted =
    verdicts === undefined
      ? sql`1 = 1`
      : verdicts.length === 0
        ? sql`1 = 0`
        : sql`verdict in (${sql.join(verdicts)})`;
  const parts = [countedCells(wanted), ...uncountedCells(reader, wanted), ...correctedCells(reader, wanted)];
  const tagged = sql`select * from (${sql.join(parts, sql` union all `)}) as every_tagged where ${isWanted}`;
  if (!columns.includes("tag")) return sql<SummaryCell>`(${tagged})`;
  const others = columns.filter((column) => column !== "tag");
  const withoutTag = columns.map((column) =>
    column === "tag" ? sql`cast(null as text) as tag` : sql.ref(column),
  );
  // PostgreSQL adds up 64-bit integers as decimals, which is slow.
  const count = isPostgres(reader) ? sql`cast(count as double precision)` : sql`count`;
  const all = rollupCells(reader, accountId, filter, others);
  return sql<SummaryCell>`(
    with tagged as materialized (
      select ${sql.join([...keys, sql`verdict, score_mille`])}, sum(${count}) as count,
        sum(score_sum) as score_sum, sum(score_sum_of_squares) as score_sum_of_squares
      from (${tagged}) as added group by ${sql.join([...keys, sql`score_mille, verdict`])}
    )
    select ${sql.join([...keys, ...figures])} from tagged
    union all select ${sql.join([...withoutTag, sql`verdict, score_mille`])}, -count, -score_sum, -score_sum_of_squares from tagged
    union all select ${sql.join([...withoutTag, ...figures])} from ${all} as every_result
    -- Adding up numbers takes a fraction of the time of grouping them, and often all results have the tag.
    where (select coalesce(sum(count), 0) from tagged) <> (select coalesce(sum(${count}), 0) from ${all} as every_result))`;
}

/** Whether nearly all results with a tag of this name are counted by tag. Whatever the answer, `tagCells` is right. */
export async function isCountedByTag(reader: Database, accountId: string, name: string): Promise<boolean> {
  const { rows } = await sql<{ missing: number; closed: number }>`
    select coalesce((select max(id) from evaluation_results), 0) - up_to as missing, (
      select count(*) from evaluation_tag_names
      where account_id = ${accountId} and name = ${name} and counted_up_to is not null) as closed
    from evaluation_tag_progress`.execute(reader);
  const [row] = rows;
  return row !== undefined && row.closed === 0 && row.missing <= maxUncounted;
}

/**
 * The tags of `result`, one per row, as a join: `tagged.key` and `tagged.value`. From the payload, because the tags' own table is not
 * in the order of results.
 */
export function joinTags(database: Database): Fragment {
  const tags = isPostgres(database)
    ? sql`lateral json_each_text(payload.tags::json)`
    : sql`json_each(payload.tags)`;
  // SQLite joins them in this order only.
  return sql`cross join evaluation_payloads as payload cross join ${tags} as tagged`;
}

/** The condition that goes with `joinTags`. */
export const isPayloadOfResult = sql`payload.result_id = result.id`;

/** How a result was counted by tag: with its evaluator's verdict, which never changes. */
export function evaluatorsVerdict(database: Database) {
  const mille = sql`result.score * 1000`;
  const whole = isPostgres(database) ? sql`floor(${mille})` : sql`cast(${mille} as integer)`;
  return {
    verdict: verdictOf(sql`result.pass`),
    // As `toThousandths` rounds it; PostgreSQL's own rounding goes to even numbers.
    score_mille: sql`cast(coalesce(${whole} + case when ${mille} - ${whole} >= 0.5 then 1 else 0 end, -1) as integer)`,
    score: sql`coalesce(result.score, 0)`,
  };
}

/** PostgreSQL rejects a product too small for a double; such a square adds nothing. */
export function squareOf(score: Fragment): Fragment {
  return sql`case when ${score} > 1e-150 then ${score} * ${score} else 0 end`;
}

function verdictOf(pass: Fragment): Fragment {
  return sql`case when result.status <> 'success' then result.status
    when ${pass} is null then 'none' when ${pass} = 1 then 'pass' else 'fail' end`;
}

const figures = ["verdict", "score_mille", "count", "score_sum", "score_sum_of_squares"].map((name) =>
  sql.ref(name),
);

/** Reading this many results one by one takes some tens of milliseconds; without the counts, only results with the tag are read. */
const maxUncounted = 20_000;

/** The number up to which results with a tag of this name are counted. */
function countedUpTo(accountId: string, { name }: CountedTag): Fragment {
  return sql`(select coalesce((select counted_up_to from evaluation_tag_names
    where account_id = ${accountId} and name = ${name}), up_to) from evaluation_tag_progress)`;
}

function isTag(owner: string, column: string, { name, value }: CountedTag): Fragment {
  const hasValue = value === undefined ? sql`` : sql` and ${sql.ref(`${owner}.value`)} = ${value}`;
  return sql`${sql.ref(`${owner}.${column}`)} = ${name}${hasValue}`;
}

function countedCells({ accountId, filter, columns, tag }: WantedCounts): Fragment {
  const selected = columns.map((column) => (column === "tag" ? sql`tag.value as tag` : sql.ref(column)));
  const conditions = [
    sql`tag.account_id = ${accountId}`,
    isTag("tag", "name", tag),
    ...seriesMatches(filter).map(([column, value]) => sql`${sql.ref(column)} = ${value}`),
    ...(filter.fromDay === undefined ? [] : [sql`day >= ${filter.fromDay}`]),
    ...(filter.untilDay === undefined ? [] : [sql`day < ${filter.untilDay}`]),
  ];
  return sql`select ${sql.join([...selected, ...figures])}
    from evaluation_tag_values as tag join evaluation_tag_series as series on series.tag_id = tag.id
    join evaluation_tag_counts as counts on counts.series_id = series.id
    where ${sql.join(conditions, sql` and `)}`;
}

/** The results that are not counted yet, with the verdicts that count. */
function uncountedCells(reader: Database, wanted: WantedCounts): Fragment[] {
  const { accountId, filter, columns, tag } = wanted;
  return statusConditions(filter.status).map(
    (ofStatus) => sql`select ${cellColumns(columns, countedVerdict, sql`1`)}
      from evaluation_results as result ${joinTags(reader)}
      where ${sql.join(resultConditions(wanted), sql` and `)} and ${ofStatus}
        and result.id > ${countedUpTo(accountId, tag)}
        -- With both bounds PostgreSQL expects few results.
        and result.id <= ${sql.lit(Number.MAX_SAFE_INTEGER)}`,
  );
}

/** Corrections of counted results: the evaluator's verdict is subtracted, and the one that counts is added. */
function correctedCells(reader: Database, wanted: WantedCounts): Fragment[] {
  const { accountId, filter, columns, tag } = wanted;
  if (filter.status !== undefined && filter.status !== "success") return [];
  // PostgreSQL would read all results to find a few of them.
  const result = isPostgres(reader)
    ? sql`lateral (select * from evaluation_results as found where found.id = corrected.result_id offset 0)`
    : sql`evaluation_results`;
  const before = evaluatorsVerdict(reader);
  const exchanged = {
    verdict: sql`case sign when 1 then ${countedVerdict.verdict} else ${before.verdict} end`,
    score_mille: sql`case sign when 1 then ${countedVerdict.score_mille} else ${before.score_mille} end`,
    score: sql`case sign when 1 then ${countedVerdict.score} else ${before.score} end`,
  };
  return [
    sql`select ${cellColumns(columns, exchanged, sql`sign`)}
      from (select distinct result_id from evaluation_corrections where account_id = ${accountId}) as corrected
      cross join ${result} as result ${joinTags(reader)}
      cross join (select -1 as sign union all select 1) as signs
      where result.id = corrected.result_id and ${sql.join(resultConditions(wanted), sql` and `)}
        and result.id <= ${countedUpTo(accountId, tag)}`,
  ];
}

function resultConditions({ accountId, filter: { pass: _, ...filter }, tag }: WantedCounts): Fragment[] {
  return [
    sql`result.account_id = ${accountId}`,
    isPayloadOfResult,
    isTag("tagged", "key", tag),
    ...filterConditions(accountId, filter),
    ...(filter.fromDay === undefined ? [] : [sql`result.created_at >= ${filter.fromDay * microsPerDay}`]),
    ...(filter.untilDay === undefined ? [] : [sql`result.created_at < ${filter.untilDay * microsPerDay}`]),
  ];
}

function fromResults(accountId: string, filter: ResultFilter, tag: string | undefined): Fragment {
  const conditions = [sql`result.account_id = ${accountId}`, ...filterConditions(accountId, filter)];
  return sql`from evaluation_results as result
    ${tag === undefined ? sql`` : sql`left join tagged on tagged.result_id = result.id`}
    where ${sql.join(conditions, sql` and `)}`;
}

/** The conditions that a filter puts on `result`. */
function filterConditions(accountId: string, filter: ResultFilter): Fragment[] {
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

/** Conditions that together let results of a status through, or all results; each needs its own statement. */
function statusConditions(status: ResultFilter["status"]): Fragment[] {
  // Literally as in the conditions of the two kinds of partial indexes.
  const verdicts = sql`result.status = 'success'`;
  // Their index has each status in the order of ids, which a range of ids needs.
  const others = sql`result.status <> 'success' and result.status in (${sql.join(statusesWithoutVerdict)})`;
  return status === "success" ? [verdicts] : status ? [others] : [verdicts, others];
}

/** The values of the tag to group by, found once instead of once for each result. */
function tagValues(accountId: string, tag: string | undefined): Fragment {
  if (tag === undefined) return sql``;
  return sql`with tagged as materialized (
    select result_id, value from evaluation_tags where account_id = ${accountId} and name = ${tag})`;
}

function cellColumns(
  columns: readonly (keyof GroupKey)[],
  { verdict, score_mille, score }: typeof countedVerdict,
  sign: Fragment,
): Fragment {
  return sql.join([
    ...groupColumns(columns),
    sql`${verdict} as verdict`,
    sql`${score_mille} as score_mille`,
    sql`${sign} as count`,
    sql`${sign} * ${score} as score_sum`,
    sql`${sign} * ${squareOf(score)} as score_sum_of_squares`,
  ]);
}

/** The columns of a group, as they are read from `result` and, for a tag, `tagged`. */
function groupColumns(columns: readonly (keyof GroupKey)[]): Fragment[] {
  return columns.map((column) => sql`${columnSources[column]} as ${sql.ref(column)}`);
}

/** Bounds beyond the range of scores would not fit the column. */
function toThousandthsWithin(score: number | undefined): number | undefined {
  return score === undefined ? undefined : toThousandths(Math.min(Math.max(score, 0), 1));
}
