import { type DeletedBatch, inTimedTransaction } from "../../platform/storage/delete-in-batches.ts";
import type { Micros } from "../../platform/storage/micros.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { lockRollUpToDelete } from "../summary/roll-up-tags-store.ts";
import { type AgePlace, deleteResultRows, selectOldest } from "./deleted-results-store.ts";

/** To look at results that stay takes microseconds each. */
const candidatesAtOnce = 500;
const start: AgePlace = { createdAt: Number.MIN_SAFE_INTEGER, id: 0 };

/** Deletes some results of all accounts from before a time, but for those of runs and experiments. */
export async function deleteOldResults(
  database: Database,
  before: Micros,
  place: AgePlace | undefined,
  limit: number,
): Promise<DeletedBatch<AgePlace>> {
  const wanted = Math.max(limit, candidatesAtOnce);
  const candidates = await selectOldest(database, before, place ?? start, wanted);
  const deletable = candidates.filter(({ isOfRun }) => !isOfRun).slice(0, limit);
  // Those between the last one that is deleted and the end are looked at again.
  const isCut = deletable.length === limit;
  const last = isCut ? deletable.at(-1) : candidates.at(-1);
  const next = isCut || candidates.length === wanted ? last : undefined;
  if (deletable.length === 0) return { deleted: 0, heldMs: 0, next };
  const { result, heldMs } = await inTimedTransaction(
    database,
    (transaction) =>
      deleteResultRows(
        transaction,
        deletable.map(({ id }) => id),
      ),
    lockRollUpToDelete,
  );
  return { deleted: result, heldMs, next };
}
