import { type Changer, recordChange } from "../../platform/audit.ts";
import { conflict, notFound } from "../../platform/errors.ts";
import { type DeletedBatch, inTimedTransaction } from "../../platform/storage/batches.ts";
import { type Micros, nowMicros } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { inTransaction, type Store } from "../../platform/storage/store.ts";
import type { SearchFilter } from "../search/filter.ts";
import { narrowest, searchIds } from "../search/search-results.ts";
import { lockRollUpToDelete } from "../summary/tags.ts";
import type { CountsMerger } from "../write/merge-counts.ts";
import {
  type AgePosition,
  advanceDeletion,
  type CountsKey,
  countsTables,
  deleteCounts,
  deleteResultRows,
  lockUncorrected,
  selectCandidatesOf,
  selectEmptyCounts,
  selectNextDeletion,
  selectOldest,
} from "./deleted-results-store.ts";

/** Takes a millisecond or two, and no one waits for it. */
const usuallyLookedAt = 2_000;

/** How far the counts were looked at: one table after the other, each in the order of its key. */
export interface CountsPosition {
  tableIndex: number;
  after: CountsKey | undefined;
}

/** Deletes some counts of days whose results were all deleted or corrected, as they say nothing, then tag values without counts. */
export async function deleteEmptyCounts(
  database: Database,
  { tableIndex, after }: CountsPosition = { tableIndex: 0, after: undefined },
  limit: number,
  lookedAt = usuallyLookedAt,
): Promise<DeletedBatch<CountsPosition>> {
  const table = countsTables[tableIndex];
  if (table === undefined) return { deleted: 0, heldMs: 0, next: undefined };
  const { empty, last } = await selectEmptyCounts(database, table, after, lookedAt);
  const some = empty.slice(0, limit);
  // Empty counts beyond the limit are looked for again.
  const reached = some.length < empty.length ? some.at(-1) : last;
  const next = { tableIndex: reached === undefined ? tableIndex + 1 : tableIndex, after: reached };
  if (some.length === 0) return { deleted: 0, heldMs: 0, next };
  const { result, heldMs } = await inTimedTransaction(database, (transaction) =>
    deleteCounts(transaction, table, some),
  );
  return { deleted: result, heldMs, next };
}

/** Looking at results that are kept takes microseconds each. */
const candidatesAtOnce = 500;

/**
 * Deletes some results of the deletion that has waited longest, and stores its progress in the same transaction. If a process ends
 * halfway, the next one continues. Results corrected since the request stay: the count did not include them as they are now.
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
      afterId: narrowest(Math.max, filter.afterId, deletion.after_id),
      beforeId: narrowest(Math.min, filter.beforeId, deletion.up_to_id + 1),
    },
    { order: "oldest-first", limit: wanted },
  );
  const candidates = await selectCandidatesOf(database, accountId, ids);
  const deletable = candidates.filter(({ is_of_run }) => !is_of_run).slice(0, limit);
  const isCut = deletable.length === limit;
  const isLast = !isCut && ids.length < wanted;
  const afterId = (isCut ? deletable.at(-1)?.id : ids.at(-1)) ?? deletion.after_id;
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

const start: AgePosition = { created_at: Number.MIN_SAFE_INTEGER, id: 0 };

/** Deletes some results of all accounts from before a time, except those of runs and experiments. */
export async function deleteOldResults(
  database: Database,
  before: Micros,
  position: AgePosition | undefined,
  limit: number,
): Promise<DeletedBatch<AgePosition>> {
  const wanted = Math.max(limit, candidatesAtOnce);
  const startedAtMs = performance.now();
  const candidates = await selectOldest(database, before, position ?? start, wanted);
  const deletable = candidates.filter(({ is_of_run }) => !is_of_run).slice(0, limit);
  // Results between the last deleted one and the end are looked at again.
  const isCut = deletable.length === limit;
  const last = isCut ? deletable.at(-1) : candidates.at(-1);
  const next = isCut || candidates.length === wanted ? last : undefined;
  // Runs may keep millions of results, which every look passes, with a pause after each part of them.
  if (deletable.length === 0) return { deleted: 0, heldMs: performance.now() - startedAtMs, next };
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

/** Deletes one result of the account, with its corrections. Results of a run stay as long as the run does. */
export async function deleteResult(
  { store, countsMerger }: { store: Store; countsMerger: Pick<CountsMerger, "schedule"> },
  requester: Changer,
  id: number,
): Promise<void> {
  await inTransaction(store, requester, async (transaction) => {
    const [found] = await selectCandidatesOf(transaction, requester.accountId, [id]);
    if (found === undefined) throw notFound("evaluation result");
    if (found.is_of_run)
      throw conflict(
        "This result belongs to a run or an experiment, whose figures it is part of. Delete the run first.",
      );
    // It may have been deleted since.
    if ((await deleteResultRows(transaction, [id])) === 0) throw notFound("evaluation result");
    await recordChange(transaction, requester, "evaluation_result.delete", String(id));
  });
  countsMerger.schedule();
}
