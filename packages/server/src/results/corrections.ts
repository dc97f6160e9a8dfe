import { type Changer, recordChange } from "../platform/audit.ts";
import { conflict, notFound, ServiceError } from "../platform/errors.ts";
import { type Micros, toFlag } from "../platform/storage/columns.ts";
import { doOnce, type Once } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { inTransaction, type Store } from "../platform/storage/store.ts";
import {
  deleteCorrection,
  insertCorrection,
  selectCorrectedAt,
  selectCountedWithout,
  selectLatestCorrection,
} from "./corrections-store.ts";
import { type StoredResult, toCorrection } from "./result.ts";
import { addCounted, type Countable, lockResult, recount } from "./write/counts-store.ts";
import type { CountsMerger } from "./write/merge-counts.ts";
import { getResult } from "./write/stored-results-store.ts";

/** What a person says about the verdict of a result. */
export interface NewCorrection {
  userId: string;
  resultId: number;
  pass: boolean;
  /** Null: 1 for a pass, 0 for a fail; none if the evaluator gave none. */
  score: number | null;
  comment: string | null;
}

/**
 * Appends a correction, which counts in searches and summaries from then on, and returns the result with it. Whether such a result
 * can be corrected is checked first, since a writing transaction blocks others.
 */
export async function correctResult(
  services: { store: Store; countsMerger: Pick<CountsMerger, "schedule"> },
  requester: Changer,
  correction: NewCorrection,
  once: Once | undefined,
): Promise<StoredResult> {
  const { resultId, pass, comment } = correction;
  // All of the response is read before the change: once that is committed, no read may fail the request.
  const result = await getResult(services, requester, resultId);
  if (result.outcome.status !== "success") {
    throw conflict("The evaluation has no verdict to correct.");
  }
  const isGraded = result.outcome.score !== undefined;
  const score = correction.score ?? (isGraded ? Number(pass) : null);
  // A repeated request contains all but the time of the first.
  const { createdAt } = await doOnce(services.store.writer(requester), once, {
    async work(transaction) {
      const appended = await appendCorrection(transaction, requester.accountId, { ...correction, score });
      await recordChange(transaction, requester, "evaluation_result.correct", String(resultId), {
        pass,
        score,
      });
      return { createdAt: appended.createdAt };
    },
    toReceipt: (appended) => appended,
    recall: async (appended) => appended,
  });
  services.countsMerger.schedule();
  const row = { pass: toFlag(pass), score, comment, created_at: createdAt };
  return { ...result, correction: toCorrection(row) };
}

/** Of two corrections of one result the second waits for the first, so that it sees what the first one counted. */
export async function appendCorrection(
  transaction: Database,
  accountId: string,
  { userId, resultId, pass, score, comment }: NewCorrection,
): Promise<{ id: string; createdAt: Micros }> {
  const locked = await lockResult(transaction, accountId, resultId);
  if (locked === undefined) throw notFound("evaluation result");
  const createdAt = Math.max(locked.now, ((await selectCorrectedAt(transaction, resultId)) ?? 0) + 1);
  const id = Bun.randomUUIDv7();
  await insertCorrection(transaction, {
    id,
    result_id: resultId,
    account_id: accountId,
    profile_public_id: locked.profile_public_id,
    user_id: userId,
    pass: toFlag(pass),
    score,
    comment,
    created_at: createdAt,
  });
  await addCounted(
    transaction,
    recount([locked], [{ ...locked, counted_pass: toFlag(pass), counted_score: score }]),
  );
  return { id, createdAt };
}

/** Takes back the latest correction of a result, if it is the user's own. The verdict from before it counts again. */
export async function withdrawCorrection(
  services: { store: Store; countsMerger: Pick<CountsMerger, "schedule"> },
  requester: Changer,
  withdrawal: { userId: string; resultId: number },
): Promise<StoredResult> {
  await inTransaction(services.store, requester, async (transaction) => {
    await takeBack(transaction, requester.accountId, withdrawal);
    await recordChange(
      transaction,
      requester,
      "evaluation_result.withdraw_correction",
      String(withdrawal.resultId),
    );
  });
  services.countsMerger.schedule();
  return await getResult(services, requester, withdrawal.resultId);
}

async function takeBack(
  transaction: Database,
  accountId: string,
  { userId, resultId }: { userId: string; resultId: number },
): Promise<void> {
  const locked = await lockResult(transaction, accountId, resultId);
  if (locked === undefined) throw notFound("evaluation result");
  const latest = await selectLatestCorrection(transaction, resultId);
  if (latest?.user_id !== userId) {
    throw new ServiceError(
      "not_found",
      "The latest correction of the result is not yours, or there is none.",
    );
  }
  await removeCorrection(transaction, locked, latest.id);
}

/** Removes the latest correction of a result that is locked: what counted before it counts again. */
export async function removeCorrection(transaction: Database, locked: Countable, correctionId: string) {
  const { pass, score } = await selectCountedWithout(transaction, locked.id, correctionId);
  await deleteCorrection(transaction, { id: correctionId, resultId: locked.id, pass, score });
  const recounted = { ...locked, counted_pass: pass, counted_score: score };
  await addCounted(transaction, recount([locked], [recounted]));
}
