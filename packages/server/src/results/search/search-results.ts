import { type Pieces, readInPieces, refuseLargePage } from "../../platform/storage/read-in-pieces.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { StoredResult } from "../evaluation-record.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { selectLastSettled } from "../write/numbers-store.ts";
import { selectPayloadBytes, selectResults } from "../write/stored-results-store.ts";
import { selectIdsByColumn } from "./column-order-store.ts";
import type { ColumnOrder, SearchFilter, SearchPage, TimeOrder } from "./result-filter.ts";
import { selectResultIds } from "./search-store.ts";
import { narrowest, withTimesAsIds } from "./times-as-ids.ts";

/** An account's results of a filter, yet to be read. The next page starts after the last id of this one. */
export async function searchResults(
  { store }: Pick<EvaluationServices, "store">,
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
  { store }: Pick<EvaluationServices, "store">,
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
