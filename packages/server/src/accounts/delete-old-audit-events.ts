import { deleteAuditEvents, selectOldAuditEvents } from "../platform/audit-events-store.ts";
import { type DeletedBatch, inTimedTransaction } from "../platform/storage/delete-in-batches.ts";
import type { Micros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

/** Deletes some of an account's events from before a time, the oldest first. */
export async function deleteOldAuditEvents(
  database: Database,
  { accountId, before }: { accountId: string; before: Micros },
  limit: number,
): Promise<DeletedBatch<true>> {
  const ids = await selectOldAuditEvents(database, accountId, before, limit);
  if (ids.length === 0) return { deleted: 0, heldMs: 0, next: undefined };
  const { result, heldMs } = await inTimedTransaction(database, (transaction) =>
    deleteAuditEvents(transaction, ids),
  );
  return { deleted: result, heldMs, next: ids.length < limit ? undefined : true };
}
