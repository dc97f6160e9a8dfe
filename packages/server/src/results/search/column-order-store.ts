import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { ColumnOrder, SearchFilter, SearchPage } from "./result-filter.ts";
import {
  allOf,
  choosePath,
  hasStatus,
  isWithin,
  notIndexable,
  remainingConditions,
  scansOf,
  unionOf,
} from "./search-store.ts";

/** As many results are sorted; of more, the index of the column finds enough for a page by itself. */
const maxSorted = 20_000;

const columns = {
  "first-sample-first": "sample_key",
  "last-sample-first": "sample_key",
  // To a thousandth, as the index has them.
  "lowest-score-first": "score_mille",
  "highest-score-first": "score_mille",
} as const satisfies Record<ColumnOrder, string>;

type Column = (typeof columns)[ColumnOrder];

interface ColumnSearch {
  accountId: string;
  filter: SearchFilter;
  page: SearchPage<ColumnOrder>;
  /** Only results after this one in the order from the first sample or the lowest score on. */
  afterId: number | undefined;
  /** Only results before this one in that order. */
  beforeId: number | undefined;
}

/** The ids of an account's results of a filter in the order of their samples or scores, a page of them. Those without are left out. */
export async function selectIdsByColumn(
  reader: Database,
  search: ColumnSearch,
  sortsUpTo = maxSorted,
): Promise<number[]> {
  const { accountId, filter, page, afterId, beforeId } = search;
  const column = columns[page.order];
  const key = sql.ref(`result.${column}`);
  const positions = [
    ...(await positionCondition(reader, { accountId, column, id: afterId }, sql`>`)),
    ...(await positionCondition(reader, { accountId, column, id: beforeId }, sql`<`)),
  ];
  const ofFilter = { accountId, filter, page: { order: "newest-first" as const, limit: sortsUpTo } };
  const { path, count } = await choosePath(reader, ofFilter, sortsUpTo);
  if (count === 0) return [];
  const remaining = remainingConditions(path, ofFilter);
  const isSorted = path.by !== "account" && count < sortsUpTo;
  const source = isSorted
    ? keyed(column, unionOf(scansOf(path, ofFilter, remaining)))
    : sql`evaluation_results`;
  const conditions = isSorted
    ? []
    : walkConditions(accountId, filter, remainingConditions({ by: "account" }, ofFilter));
  const direction = sql.raw(isAscending(page.order) ? "asc" : "desc");
  const { rows } = await sql<{ id: number }>`
    select result.id from ${source} as result
    where ${allOf([...conditions, sql`${key} is not null`, ...positions])}
    order by ${key} ${direction}, result.id ${direction} limit ${page.limit}`.execute(reader);
  return rows.map(({ id }) => id);
}

function isAscending(order: ColumnOrder): boolean {
  return order === "first-sample-first" || order === "lowest-score-first";
}

/** Each id with its sample's key or its score: by a subquery of one row, so that no planner scans all results for a join. */
function keyed(column: Column, ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select walk.id, (select ${sql.ref(column)} from evaluation_results where id = walk.id) as ${sql.ref(column)}
    from (${ids}) as walk)`;
}

/** For results as the index of the column has them, each checked against the filter. */
function walkConditions(
  accountId: string,
  filter: SearchFilter,
  remaining: readonly RawBuilder<unknown>[],
): RawBuilder<unknown>[] {
  const checked = [...remaining, ...isWithin("result.id", filter)];
  return [
    sql`result.account_id = ${accountId}`,
    hasStatus(filter),
    ...(checked.length === 0 ? [] : [notIndexable(allOf(checked))]),
  ];
}

/** Nothing is before or after a result that has no place in the order. */
async function positionCondition(
  reader: Database,
  { accountId, column, id }: { accountId: string; column: Column; id: number | undefined },
  comparison: RawBuilder<unknown>,
): Promise<RawBuilder<unknown>[]> {
  if (id === undefined) return [];
  const row = await reader
    .selectFrom("evaluation_results")
    .select(`${column} as key`)
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  const key = row?.key ?? null;
  if (key === null) return [sql`1 = 0`];
  return [sql`(${sql.ref(`result.${column}`)}, result.id) ${comparison} (${key}, ${id})`];
}
