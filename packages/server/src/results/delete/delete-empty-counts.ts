import { type DeletedBatch, inTimedTransaction } from "../../platform/storage/delete-in-batches.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { type CountsKey, countsTables, deleteCounts, selectEmptyCounts } from "./empty-counts-store.ts";

/** A millisecond or two, and no one waits for it. */
const usuallyLookedAt = 2_000;

/** How far the counts were looked at: one table after the other, each in the order of its key. */
export interface CountsPlace {
  tableIndex: number;
  after: CountsKey | undefined;
}

/** Deletes some counts of days whose results are all deleted, or corrected: they say nothing. Then values of tags without counts. */
export async function deleteEmptyCounts(
  database: Database,
  { tableIndex, after }: CountsPlace = { tableIndex: 0, after: undefined },
  limit: number,
  lookedAt = usuallyLookedAt,
): Promise<DeletedBatch<CountsPlace>> {
  const table = countsTables[tableIndex];
  if (table === undefined) return { deleted: 0, heldMs: 0, next: undefined };
  const { empty, last } = await selectEmptyCounts(database, table, after, lookedAt);
  const some = empty.slice(0, limit);
  // What is empty beyond the limit is looked for again.
  const reached = some.length < empty.length ? some.at(-1) : last;
  const next = { tableIndex: reached === undefined ? tableIndex + 1 : tableIndex, after: reached };
  if (some.length === 0) return { deleted: 0, heldMs: 0, next };
  const { result, heldMs } = await inTimedTransaction(database, (transaction) =>
    deleteCounts(transaction, table, some),
  );
  return { deleted: result, heldMs, next };
}
