import type { Database } from "../../../storage/schema/tables.ts";
import { type DeletedBatch, inTimedTransaction } from "../../../storage/writing/delete-in-batches.ts";
import {
  deleteCounts,
  deleteUnusedTags,
  rollupTables,
  selectEmptyCounts,
  selectUnusedTags,
  tagTables,
} from "./empty-counts-store.ts";

/** Deletes some counts of days whose results are all deleted, or corrected: they say nothing. Then values of tags without counts. */
export async function deleteEmptyCounts(database: Database, limit: number): Promise<DeletedBatch<true>> {
  for (const table of rollupTables) {
    const empty = await selectEmptyCounts(database, table, limit);
    if (empty.length === 0) continue;
    const { result, heldMs } = await inTimedTransaction(database, (transaction) =>
      deleteCounts(transaction, table, empty),
    );
    return { deleted: result, heldMs, next: true };
  }
  for (const table of tagTables) {
    const unused = await selectUnusedTags(database, table, limit);
    if (unused.length === 0) continue;
    const { result, heldMs } = await inTimedTransaction(database, (transaction) =>
      deleteUnusedTags(transaction, table, unused),
    );
    return { deleted: result, heldMs, next: true };
  }
  return { deleted: 0, heldMs: 0, next: undefined };
}
