import type { Database } from "../../../storage/schema/tables.ts";
import { selectLastSettled } from "../keep/numbers-store.ts";
import { selectIdsAtTimes } from "../times/times-store.ts";
import type { Page, ResultFilter, SearchFilter } from "./result-filter.ts";
import { selectResultIds } from "./search-store.ts";

/** The ids of an account's results of a filter, a page of them. */
export async function searchIds(
  reader: Database,
  accountId: string,
  filter: SearchFilter,
  page: Page,
): Promise<number[]> {
  // In this order: what is settled is found by all that follows.
  const settled = await withSettledOnly(reader, filter, page);
  return await selectResultIds(reader, { accountId, filter: await withTimesAsIds(reader, settled), page });
}

/**
 * Whoever reads upwards goes on behind the greatest id, and would never see a result of a smaller one that comes later. Newest first,
 * everything is shown that is there, so that whoever was answered finds what they wrote.
 */
async function withSettledOnly(
  reader: Database,
  filter: SearchFilter,
  { order }: Page,
): Promise<SearchFilter> {
  if (filter.afterId === undefined && order === "newest-first") return filter;
  const lastSettled = await selectLastSettled(reader);
  if (lastSettled === undefined) return filter;
  return { ...filter, beforeId: narrowest(Math.min, filter.beforeId, lastSettled + 1) };
}

/** The index of each filter is in the order of ids, in which times have no place: they narrow the ids, and each result is held against them. */
async function withTimesAsIds(reader: Database, filter: SearchFilter): Promise<SearchFilter> {
  const { createdAfter, createdBefore } = filter;
  if (createdAfter === undefined && createdBefore === undefined) return filter;
  const { afterId, beforeId } = await selectIdsAtTimes(reader, createdAfter, createdBefore);
  return {
    ...filter,
    afterId: narrowest(Math.max, filter.afterId, afterId),
    beforeId: narrowest(Math.min, filter.beforeId, beforeId),
  };
}

function narrowest(
  pick: (a: number, b: number) => number,
  given: ResultFilter["afterId"],
  found: number | null,
): number | undefined {
  if (given === undefined || found === null) return given ?? found ?? undefined;
  return pick(given, found);
}
