import { type DeletedBatch, inTimedTransaction } from "../platform/storage/delete-in-batches.ts";
import { type Micros, microsPerDay } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { deleteUsageBefore, selectFirstHour } from "./usage-store.ts";

const microsPerHour = microsPerDay / 24;
/** A rough guess, from which batches find their size. */
const rowsPerHour = 10;

/** Deletes some of an account's usage from before a time: whole hours, the oldest first. */
export async function deleteOldUsage(
  database: Database,
  { accountId, before }: { accountId: string; before: Micros },
  limit: number,
): Promise<DeletedBatch<true>> {
  const endHour = Math.floor(before / microsPerHour);
  const first = await selectFirstHour(database, accountId);
  if (first === undefined || first >= endHour) return { deleted: 0, heldMs: 0, next: undefined };
  const untilHour = Math.min(first + Math.ceil(limit / rowsPerHour), endHour);
  const { result, heldMs } = await inTimedTransaction(database, (transaction) =>
    deleteUsageBefore(transaction, accountId, untilHour),
  );
  return { deleted: result, heldMs, next: true };
}
