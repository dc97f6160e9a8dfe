import { type RawBuilder, sql } from "kysely";
import type { Micros } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { isPostgres, type Requester, type Store } from "../../platform/storage/store.ts";
import { hasCounts } from "../summary/summary-store.ts";
import type { ColumnOrder, SearchFilter, SearchPage } from "./filter.ts";
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

interface AppPage {
  limit: number;
  /** Only names that follow this one. */
  after: string | undefined;
  /** How many names to skip. */
  offset: number;
}

/** The names of apps that an account has results of, in the order of their characters on both databases. `next` is the last name if more follow. */
export async function listApps(
  { store }: { store: Store },
  requester: Requester,
  { limit, after, offset }: AppPage,
): Promise<{ names: string[]; next: string | undefined }> {
  const names = await selectApps(store.briefReader(requester), requester.accountId, {
    limit: limit + 1,
    after,
    offset,
  });
  return { names: names.slice(0, limit), next: names.length > limit ? names[limit - 1] : undefined };
}

export async function selectApps(
  reader: Database,
  accountId: string,
  { limit, after, offset }: AppPage,
): Promise<string[]> {
  // PostgreSQL would order and compare by the database's locale.
  const app = isPostgres(reader) ? sql<string>`app collate "C"` : sql<string>`app`;
  let query = reader
    .selectFrom("evaluation_series")
    .select(app.as("app"))
    .distinct()
    .where("account_id", "=", accountId)
    // Every result is also counted in such a series; series of single runs may be many.
    .where("spans_runs", "=", 1)
    .where(hasCounts(reader));
  if (after !== undefined) query = query.where(app, ">", after);
  const rows = await query.orderBy(app).limit(limit).offset(offset).execute();
  return rows.map((row) => row.app);
}

/** Up to this many results are sorted; if there are more, the column's index alone finds enough for a page. */
const maxSorted = 20_000;

const columns = {
  "first-sample-first": "sample_key",
  "last-sample-first": "sample_key",
  // Rounded to thousandths, as in the index.
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

/** A page of the ids of an account's results of a filter, by their samples or scores. Results without one are left out. */
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

/** Conditions for reading results in the order of the column's index, each checked against the filter. */
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

/** The result that a page starts from was deleted, and its place is unknown. An empty page would look like the end. */
export class GonePlaceError extends Error {
  readonly id: number;

  constructor(id: number) {
    super(`There is no result ${id}`);
    this.name = "GonePlaceError";
    this.id = id;
  }
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
  if (row === undefined) throw new GonePlaceError(id);
  if (row.key === null) return [sql`1 = 0`];
  return [sql`(${sql.ref(`result.${column}`)}, result.id) ${comparison} (${row.key}, ${id})`];
}

export interface Tag {
  key: string;
  value: string;
}

/** A tag, and when the first and the latest result with it were stored. */
export interface UsedTag extends Tag {
  createdAt: Micros;
  lastUsed: Micros;
}

interface TagPage {
  limit: number;
  /** Only tags that follow this one. */
  after: Tag | undefined;
}

/** The tags of an account's results, in the order of their index. `next` is the last tag if more follow. */
export async function listTags(
  { store }: { store: Store },
  requester: Requester,
  { limit, after }: TagPage,
): Promise<{ tags: UsedTag[]; next: Tag | undefined }> {
  const reader = store.briefReader(requester);
  const found = await selectTags(reader, requester.accountId, { limit: limit + 1, after });
  return { tags: found.slice(0, limit), next: found.length > limit ? found[limit - 1] : undefined };
}

/** Steps from each tag to the next by the index, so the time depends on the number of tags, not on how many results have them. */
export async function selectTags(
  reader: Database,
  accountId: string,
  { limit, after }: TagPage,
): Promise<UsedTag[]> {
  const start = after === undefined ? sql`` : sql`and (name, value) > (${after.key}, ${after.value})`;
  const firstColumn = (column: "name" | "value", beyond: ReturnType<typeof sql>) => sql`(
    select ${sql.ref(column)} from evaluation_tags where account_id = ${accountId} ${beyond}
    order by name, value limit 1)`;
  const isBeyond = sql`and (name, value) > (walk.tag_name, walk.tag_value)`;
  const resultTime = (direction: "asc" | "desc") => sql`(
    select result.created_at from evaluation_results as result where result.id = (
      select result_id from evaluation_tags
      where account_id = ${accountId} and name = walk.tag_name and value = walk.tag_value
      order by result_id ${sql.raw(direction)} limit 1))`;
  const { rows } = await sql<UsedTag>`
    with recursive walk (step, tag_name, tag_value) as (
      select 1, ${firstColumn("name", start)}, ${firstColumn("value", start)}
      union all
      select step + 1, ${firstColumn("name", isBeyond)}, ${firstColumn("value", isBeyond)}
      from walk where walk.tag_name is not null and step < ${limit}
    )
    select tag_name as key, tag_value as value, ${resultTime("asc")} as "createdAt", ${resultTime("desc")} as "lastUsed"
    from walk where tag_name is not null order by step`.execute(reader);
  return rows;
}
