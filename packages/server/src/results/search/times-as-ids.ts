import type { Database } from "../../platform/storage/schema/tables.ts";
import { selectIdsAtTimes } from "../write/numbers-store.ts";
import type { ResultFilter } from "./result-filter.ts";

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
