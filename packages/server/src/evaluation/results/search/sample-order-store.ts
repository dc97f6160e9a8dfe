import { type RawBuilder, sql } from "kysely";
import type { Database } from "../../../storage/schema/tables.ts";
import type { SampleOrder, SearchFilter, SearchPage } from "./result-filter.ts";
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

/** As many results are sorted; of more, the index of samples finds enough for a page by itself. */
const maxSorted = 20_000;

interface SampleSearch {
  accountId: string;
  filter: SearchFilter;
  page: SearchPage<SampleOrder>;
  /** Only results after this one in the order from the first sample on. */
  afterId: number | undefined;
  /** Only results before this one in that order. */
  beforeId: number | undefined;
}

/** The ids of an account's results of a filter in the order of their samples, a page of them. */
export async function selectIdsBySample(
  reader: Database,
  search: SampleSearch,
  sortsUpTo = maxSorted,
): Promise<number[]> {
  const { accountId, filter, page, afterId, beforeId } = search;
  const positions = [
    ...(await positionCondition(reader, accountId, sql`>`, afterId)),
    ...(await positionCondition(reader, accountId, sql`<`, beforeId)),
  ];
  const ofFilter = { accountId, filter, page: { order: "newest-first" as const, limit: sortsUpTo } };
  const { path, count } = await choosePath(reader, ofFilter, sortsUpTo);
  if (count === 0) return [];
  const remaining = remainingConditions(path, ofFilter);
  const isSorted = path.by !== "account" && count < sortsUpTo;
  const source = isSorted ? keyed(unionOf(scansOf(path, ofFilter, remaining))) : sql`evaluation_results`;
  const conditions = isSorted
    ? []
    : walkConditions(accountId, filter, remainingConditions({ by: "account" }, ofFilter));
  const direction = sql.raw(page.order === "first-sample-first" ? "asc" : "desc");
  const { rows } = await sql<{ id: number }>`
    select result.id from ${source} as result
    where ${allOf([...conditions, sql`result.sample_key is not null`, ...positions])}
    order by result.sample_key ${direction}, result.id ${direction} limit ${page.limit}`.execute(reader);
  return rows.map(({ id }) => id);
}

/** Each id with its sample's key: by a subquery of one row, so that no planner scans all results for a join. */
function keyed(ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select walk.id, (select sample_key from evaluation_results where id = walk.id) as sample_key
    from (${ids}) as walk)`;
}

/** For results as the index of samples has them, each checked against the filter. */
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
  accountId: string,
  comparison: RawBuilder<unknown>,
  id: number | undefined,
): Promise<RawBuilder<unknown>[]> {
  if (id === undefined) return [];
  const row = await reader
    .selectFrom("evaluation_results")
    .select("sample_key")
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  const key = row?.sample_key ?? null;
  return key === null ? [sql`1 = 0`] : [sql`(result.sample_key, result.id) ${comparison} (${key}, ${id})`];
}
