import { type DeletedBatch, inTimedTransaction } from "../../platform/storage/delete-in-batches.ts";
import { nowMicros } from "../../platform/storage/micros.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { SearchFilter } from "../search/result-filter.ts";
import { searchIds } from "../search/search-results.ts";
import { narrowest } from "../search/times-as-ids.ts";
import { lockRollUpToDelete } from "../summary/roll-up-tags-store.ts";
import { deleteResultRows, lockUncorrected, selectCandidatesOf } from "./deleted-results-store.ts";
import { advanceDeletion, selectNextDeletion } from "./result-deletions-store.ts";

/** To look at results that stay takes microseconds each. */
const candidatesAtOnce = 500;

/**
 * Deletes some results of the deletion that waits longest, and stores how far it is in the same transaction. A process that ends in the
 * middle leaves the rest to the next one. Results corrected since the request stay: the count did not include them as they are now.
 */
export async function deleteMatchingResults(database: Database, limit: number): Promise<DeletedBatch<true>> {
  const deletion = await selectNextDeletion(database);
  if (deletion === undefined) return { deleted: 0, heldMs: 0, next: undefined };
  const { id, account_id: accountId } = deletion;
  const filter = JSON.parse(deletion.filter) as SearchFilter;
  const wanted = Math.max(limit, candidatesAtOnce);
  const ids = await searchIds(
    database,
    accountId,
    {
      ...filter,
      afterId: narrowest(Math.max, filter.afterId, Number(deletion.after_id)),
      beforeId: narrowest(Math.min, filter.beforeId, Number(deletion.up_to_id) + 1),
    },
    { order: "oldest-first", limit: wanted },
  );
  const candidates = await selectCandidatesOf(database, accountId, ids);
  const deletable = candidates.filter(({ isOfRun }) => !isOfRun).slice(0, limit);
  const isCut = deletable.length === limit;
  const isLast = !isCut && ids.length < wanted;
  const afterId = (isCut ? deletable.at(-1)?.id : ids.at(-1)) ?? Number(deletion.after_id);
  const { result, heldMs } = await inTimedTransaction(
    database,
    async (transaction) => {
      const found = await lockUncorrected(
        transaction,
        deletable.map((candidate) => candidate.id),
        deletion.created_at,
      );
      const deleted = await deleteResultRows(transaction, found);
      await advanceDeletion(transaction, id, { afterId, deleted, finishedAt: isLast ? nowMicros() : null });
      return deleted;
    },
    lockRollUpToDelete,
  );
  // There may be another deletion.
  return { deleted: result, heldMs, next: true };
}
