import type { DeletedBatch } from "../platform/storage/delete-in-batches.ts";
import type { Micros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { deleteOldest } from "./deleted-predictions-store.ts";

/** Deletes some live predictions of all accounts from before a time. Those of runs and episodes stay as long as these do. */
export async function deleteOldPredictions(
  database: Database,
  before: Micros,
  limit: number,
): Promise<DeletedBatch<true>> {
  const { deleted, heldMs } = await deleteOldest(database, { accountId: undefined, before }, limit);
  return { deleted, heldMs, next: deleted === limit ? true : undefined };
}
