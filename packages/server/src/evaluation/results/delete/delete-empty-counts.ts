import type { Database } from "../../../storage/schema/tables.ts";
import { type DeletedBatch, inTimedTransaction } from "../../../storage/writing/delete-in-batches.ts";
import { type CountsKey, countsTables, deleteCounts, selectSomeCounts } from "./empty-counts-store.ts";

/** To look at counts that stay takes microseconds each. */
const lookedAtOnce = 2_000;

/** How far the counts were looked at: one table after the other, each in the order of its key. */
export interface CountsPlace {
  table: number;
  after: CountsKey | undefined;
}

/** Deletes some counts of days whose results are all deleted, or corrected: they say nothing. Then values of tags without counts. */
export async function deleteEmptyCounts(
  database: Database,
  { table: number, after }: CountsPlace = { table: 0, after: undefined },
  limit: number,
): Promise<DeletedBatch<CountsPlace>> {
  const table = countsTables[number];
  if (table === undefined) return { deleted: 0, heldMs: 0, next: undefined };
  const rows = await selectSomeCounts(database, table, after, lookedAtOnce);
  const empty = rows.filter(({ isEmpty }) => isEmpty).slice(0, limit);
  const isCut = empty.length === limit;
  const last = (isCut ? empty : rows).at(-1);
  const hasMore = isCut || rows.length === lookedAtOnce;
  const next = hasMore ? { table: number, after: last?.key } : { table: number + 1, after: undefined };
  if (empty.length === 0) return { deleted: 0, heldMs: 0, next };
  const { result, heldMs } = await inTimedTransaction(database, (transaction) =>
    deleteCounts(
      transaction,
      table,
      empty.map(({ key }) => key),
    ),
  );
  return { deleted: result, heldMs, next };
}
