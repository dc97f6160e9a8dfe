import type { Database } from "../../storage/tables.ts";
import type { Page, ResultFilter, SearchFilter } from "./result-filter.ts";
import { selectIdsAtTimes, selectResultIds } from "./search-store.ts";

/** The ids of an account's results of a filter, a page of them. */
export async function searchIds(
  reader: Database,
  accountId: string,
  filter: SearchFilter,
  page: Page,
): Promise<number[]> {
  return await selectResultIds(reader, { accountId, filter: await withTimesAsIds(reader, filter), page });
}

/** The index of each filter is in the order of ids; times come in the same order and have no place in it. */
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
