import { type Expression, type RawBuilder, sql } from "kysely";
import { isPostgres } from "../../platform/storage/is-postgres.ts";
import { microsPerDay } from "../../platform/storage/micros.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { GroupKey } from "../search/summary-dimensions.ts";
import type { SummaryCell } from "./group-totals-store.ts";
import { filterConditions, groupColumns, statusConditions } from "./result-cells-store.ts";
import type { CountedTag, RollupFilter } from "./rollup-filter.ts";
import { rollupCells, seriesMatches, verdictsOf } from "./rollup-store.ts";
import {
  countedVerdict,
  evaluatorsVerdict,
  isPayloadOfResult,
  joinTags,
  squareOf,
} from "./tagged-results.ts";

type Fragment = RawBuilder<unknown>;

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
