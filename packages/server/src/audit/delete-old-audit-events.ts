import type { Micros } from "../storage/micros.ts";
import type { Database } from "../storage/schema/tables.ts";
import { type DeletedBatch, inTimedTransaction } from "../storage/writing/delete-in-batches.ts";
import { deleteAuditEvents, selectOldAuditEvents } from "./audit-events-store.ts";

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
