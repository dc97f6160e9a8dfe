import { type Expression, type RawBuilder, sql } from "kysely";
import { microsPerDay } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres } from "../../platform/storage/store.ts";
import type { GroupKey } from "../search/filter.ts";
import { filterConditions, groupColumns, statusConditions } from "./result-cells-store.ts";
import {
  type CountedTag,
  type RollupFilter,
  rollupCells,
  type SummaryCell,
  seriesMatches,
  verdictsOf,
} from "./summary-store.ts";

export type Fragment = RawBuilder<unknown>;

/**
 * The tags of `result`, one a row, as a join: `tagged.key` and `tagged.value`. From the payload, since the tags' own table is not in
 * the order of results.
 */
export function joinTags(database: Database): Fragment {
  const tags = isPostgres(database)
    ? sql`lateral json_each_text(payload.tags::json)`
    : sql`json_each(payload.tags)`;
  // SQLite joins them in this order only.
  return sql`cross join evaluation_payloads as payload cross join ${tags} as tagged`;
}

/** Belongs to `joinTags`. */
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

/** How a result counts now: with the latest correction's verdict. */
const countedVerdict = {
  verdict: verdictOf(sql`result.counted_pass`),
  score_mille: sql`coalesce(result.score_mille, -1)`,
  score: sql`coalesce(result.counted_score, 0)`,
};

function verdictOf(pass: Fragment): Fragment {
  return sql`case when result.status <> 'success' then result.status
    when ${pass} is null then 'none' when ${pass} = 1 then 'pass' else 'fail' end`;
}

/** PostgreSQL rejects a product too small for a double; such a square adds nothing. */
export function squareOf(score: Fragment): Fragment {
  return sql`case when ${score} > 1e-150 then ${score} * ${score} else 0 end`;
}

/** To read this many results one by one takes some tens of milliseconds; without the counts, only those with the tag are read. */
const maxUncounted = 20_000;

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
 * An account's counts of results with a tag, as a statement yet to be run. What is counted has the evaluators' verdicts;
 * people's corrections are few, and exchanged here. All in one statement, so that each result is in it once.
 */
export function tagCells(
  reader: Database,
  accountId: string,
  filter: RollupFilter,
  columns: readonly (keyof GroupKey)[],
  tag: CountedTag,
): Expression<SummaryCell> {
  const keys = columns.map((column) => sql.ref(column));
  const verdicts = verdictsOf(filter);
  const isWanted =
    verdicts === undefined
      ? sql`1 = 1`
      : verdicts.length === 0
        ? sql`1 = 0`
        : sql`verdict in (${sql.join(verdicts)})`;
  const parts = [
    countedCells(accountId, filter, columns, tag),
    ...uncountedCells(reader, accountId, filter, columns, tag),
    ...correctedCells(reader, accountId, filter, columns, tag),
  ];
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
    -- To add up numbers takes a fraction of the time that to group them takes, and often all results have the tag.
    where (select coalesce(sum(count), 0) from tagged) <> (select coalesce(sum(${count}), 0) from ${all} as every_result))`;
}

const figures = ["verdict", "score_mille", "count", "score_sum", "score_sum_of_squares"].map((name) =>
  sql.ref(name),
);

/** The number up to which results of the name are counted. */
function countedUpTo(accountId: string, { name }: CountedTag): Fragment {
  return sql`(select coalesce((select counted_up_to from evaluation_tag_names
    where account_id = ${accountId} and name = ${name}), up_to) from evaluation_tag_progress)`;
}

function isTag(owner: string, column: string, { name, value }: CountedTag): Fragment {
  const hasValue = value === undefined ? sql`` : sql` and ${sql.ref(`${owner}.value`)} = ${value}`;
  return sql`${sql.ref(`${owner}.${column}`)} = ${name}${hasValue}`;
}

function countedCells(
  accountId: string,
  filter: RollupFilter,
  columns: readonly (keyof GroupKey)[],
  tag: CountedTag,
): Fragment {
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
function uncountedCells(
  reader: Database,
  accountId: string,
  filter: RollupFilter,
  columns: readonly (keyof GroupKey)[],
  tag: CountedTag,
): Fragment[] {
  return statusConditions(filter.status).map(
    (ofStatus) => sql`select ${cellColumns(columns, countedVerdict, sql`1`)}
      from evaluation_results as result ${joinTags(reader)}
      where ${sql.join(resultConditions(accountId, filter, tag), sql` and `)} and ${ofStatus}
        and result.id > ${countedUpTo(accountId, tag)}
        -- With both bounds PostgreSQL expects few results.
        and result.id <= ${sql.lit(Number.MAX_SAFE_INTEGER)}`,
  );
}

/** Counted results that were corrected: less the evaluator's verdict, and with the one that counts. */
function correctedCells(
  reader: Database,
  accountId: string,
  filter: RollupFilter,
  columns: readonly (keyof GroupKey)[],
  tag: CountedTag,
): Fragment[] {
  if (filter.status !== undefined && filter.status !== "success") return [];
  // PostgreSQL would read all results to find a few.
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
      where result.id = corrected.result_id and ${sql.join(resultConditions(accountId, filter, tag), sql` and `)}
        and result.id <= ${countedUpTo(accountId, tag)}`,
  ];
}

function resultConditions(
  accountId: string,
  { pass: _, ...filter }: RollupFilter,
  tag: CountedTag,
): Fragment[] {
  return [
    sql`result.account_id = ${accountId}`,
    isPayloadOfResult,
    isTag("tagged", "key", tag),
    ...filterConditions(accountId, filter),
    ...(filter.fromDay === undefined ? [] : [sql`result.created_at >= ${filter.fromDay * microsPerDay}`]),
    ...(filter.untilDay === undefined ? [] : [sql`result.created_at < ${filter.untilDay * microsPerDay}`]),
  ];
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
