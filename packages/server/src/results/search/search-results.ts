import type { Registry } from "../../evaluators/registry.ts";
import { type Pieces, readInPieces, refuseLargePage } from "../../platform/storage/lists.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import type { StoredResult } from "../result.ts";
import { hasResultsOf } from "../summary/summary-store.ts";
import { selectIdsAtTimes, selectLastSettled } from "../write/results-store.ts";
import { selectPayloadBytes, selectResults } from "../write/stored-results-store.ts";
import type { ColumnOrder, ResultFilter, SearchFilter, SearchPage, TimeOrder } from "./filter.ts";
import { selectResultIds } from "./search-store.ts";
import { selectIdsByColumn } from "./values-store.ts";

/**
 * The evaluator id that a filter means: an alias stands for its newest evaluator, unless results were imported under that name. Any
 * other name is that of an external evaluator.
 */
export async function resolveEvaluatorId(
  { store, registry }: { store: Store; registry: Registry },
  requester: Requester,
  idOrAlias: string,
): Promise<string> {
  const id = registry.find(idOrAlias)?.id;
  if (id === undefined || id === idOrAlias) return idOrAlias;
  const reader = store.reader({ ...requester, rows: 1 });
  return (await hasResultsOf(reader, requester.accountId, idOrAlias)) ? idOrAlias : id;
}

/** The indexes are in the order of ids, not of times: times narrow the range of ids, and each result's time is checked. */
export async function withTimesAsIds<Filter extends ResultFilter>(
  reader: Database,
  filter: Filter,
): Promise<Filter> {
  const { createdAfter, createdBefore } = filter;
  if (createdAfter === undefined && createdBefore === undefined) return filter;
  const { afterId, beforeId } = await selectIdsAtTimes(reader, createdAfter, createdBefore);
  return {
    ...filter,
    afterId: narrowest(Math.max, filter.afterId, afterId),
    beforeId: narrowest(Math.min, filter.beforeId, beforeId),
  };
}

export function narrowest(
  pick: (a: number, b: number) => number,
  given: number | undefined,
  found: number | null,
): number | undefined {
  if (given === undefined || found === null) return given ?? found ?? undefined;
  return pick(given, found);
}

/** An account's results of a filter, yet to be read. The next page starts after the last id of this one. */
export async function searchResults(
  { store }: { store: Store },
  requester: Requester,
  filter: SearchFilter,
  page: SearchPage<TimeOrder | ColumnOrder>,
): Promise<Pieces<StoredResult>> {
  const { accountId } = requester;
  const reader = store.reader({ ...requester, rows: page.limit });
  const ids = await searchIds(reader, accountId, filter, page);
  const bytesOf = await selectPayloadBytes(reader, ids, page.maxTextCharacters);
  refuseLargePage(
    [...bytesOf.values()],
    "results",
    "Cut the texts with text_limit, or ask for fewer results with limit.",
  );
  return readInPieces(ids, bytesOf, (some) => selectResults(reader, accountId, some, page.maxTextCharacters));
}

const idsPerExportPage = 1_000;

/** All of an account's results of a filter, in non-empty pieces that are read on demand. */
export async function* exportResults(
  { store }: { store: Store },
  requester: Requester,
  filter: SearchFilter,
  order: TimeOrder,
): AsyncGenerator<StoredResult[], void> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  let rest = filter;
  for (;;) {
    const ids = await searchIds(reader, accountId, rest, { order, limit: idsPerExportPage });
    const bytesOf = await selectPayloadBytes(reader, ids);
    yield* readInPieces(ids, bytesOf, (some) => selectResults(reader, accountId, some)).read();
    const last = ids.at(-1);
    if (last === undefined || ids.length < idsPerExportPage) return;
    rest = { ...filter, [order === "newest-first" ? "beforeId" : "afterId"]: last };
  }
}

/** The ids of an account's results of a filter, a page of them. */
export async function searchIds(
  reader: Database,
  accountId: string,
  filter: SearchFilter,
  { order, limit }: SearchPage<TimeOrder | ColumnOrder>,
): Promise<number[]> {
  if (order !== "newest-first" && order !== "oldest-first") {
    const { afterId, beforeId, ...rest } = filter;
    const found = { accountId, filter: await withTimesAsIds(reader, rest), page: { order, limit } };
    return await selectIdsByColumn(reader, { ...found, afterId, beforeId });
  }
  const page = { order, limit };
  // In this order: all that follows finds what is settled.
  const settled = await withSettledOnly(reader, filter, page);
  return await selectResultIds(reader, { accountId, filter: await withTimesAsIds(reader, settled), page });
}

/**
 * Reading upwards continues after the greatest id, and would miss a result of a smaller id that is committed later. Newest first,
 * everything committed is shown, so that clients find what they have just written.
 */
async function withSettledOnly(
  reader: Database,
  filter: SearchFilter,
  { order }: SearchPage,
): Promise<SearchFilter> {
  if (filter.afterId === undefined && order === "newest-first") return filter;
  const lastSettled = await selectLastSettled(reader);
  if (lastSettled === undefined) return filter;
  return { ...filter, beforeId: narrowest(Math.min, filter.beforeId, lastSettled + 1) };
}
