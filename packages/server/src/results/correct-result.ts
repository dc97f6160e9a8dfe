import type { Changer } from "../platform/actor.ts";
import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import { doOnce } from "../platform/storage/do-once.ts";
import { toFlag } from "../platform/storage/flag.ts";
import type { Micros } from "../platform/storage/micros.ts";
import type { Once } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { insertCorrection, selectCorrectedAt } from "./corrections-store.ts";
import type { StoredResult } from "./evaluation-record.ts";
import type { EvaluationServices } from "./evaluation-services.ts";
import { lockResult } from "./write/countable-results-store.ts";
import { findResult, noSuchResult } from "./write/find-result.ts";
import { addCounted, type Countable, type Counted, countResults } from "./write/result-counts-store.ts";

/** What a person says about the verdict of a result. */
export interface NewCorrection {
  userId: string;
  resultId: number;
  pass: boolean;
  /** Absent: 1 for a pass, 0 for a fail; none if the evaluator gave none. */
  score: number | undefined;
  comment: string | undefined;
}

/**
 * Appends a correction, which counts in searches and summaries from then on, and returns the result with it. Whether such a result
 * can be corrected is checked first, since a writing transaction blocks others.
 */
export async function correctResult(
  services: Pick<EvaluationServices, "store" | "folder">,
  requester: Changer,
  correction: NewCorrection,
  once: Once | undefined,
): Promise<StoredResult> {
  const { resultId, pass, comment } = correction;
  // All of the response is read before the change: once that is committed, no read may fail the request.
  const result = await findResult(services, requester, resultId);
  if (result.outcome.status !== "success") {
    throw new ServiceError("conflict", "The evaluation has no verdict to correct.");
  }
  const isGraded = result.outcome.score !== undefined;
  const score = correction.score ?? (isGraded ? Number(pass) : undefined);
  // A repeated request contains all but the time of the first.
  const { createdAt } = await doOnce(services.store.writer(requester), once, {
    async work(transaction) {
      const appended = await appendCorrection(transaction, requester.accountId, { ...correction, score });
      await recordChange(transaction, requester, {
        action: "evaluation_result.correct",
        objectId: String(resultId),
        detail: { pass, score: score ?? null },
      });
      return appended;
    },
    toReceipt: (appended) => appended,
    recall: async (appended) => appended,
  });
  services.folder.schedule();
  return { ...result, correction: { pass, score, comment, createdAt } };
}

/** Of two corrections of one result the second waits for the first, so that it sees what the first one counted. */
async function appendCorrection(
  transaction: Database,
  accountId: string,
  { userId, resultId, pass, score, comment }: NewCorrection,
): Promise<{ createdAt: Micros }> {
  const locked = await lockResult(transaction, accountId, resultId);
  if (locked === undefined) throw noSuchResult();
  const { counted, now } = locked;
  const createdAt = Math.max(now, ((await selectCorrectedAt(transaction, resultId)) ?? 0) + 1);
  await insertCorrection(transaction, {
    id: Bun.randomUUIDv7(),
    result_id: resultId,
    account_id: accountId,
    profile_public_id: counted.profile?.publicId ?? null,
    user_id: userId,
    pass: toFlag(pass),
    score: score ?? null,
    comment: comment ?? null,
    created_at: createdAt,
  });
  await addCounted(
    transaction,
    recount([counted], [{ ...counted, outcome: { status: "success", pass, score } }]),
  );
  return { createdAt };
}

/** What the rollup loses and gains when results are counted differently than before. */
export function recount(from: readonly Countable[], to: readonly Countable[]): Counted {
  const [lost, gained] = [countResults(from), countResults(to)];
  const takenAway = lost.counts.map((cell) => ({
    ...cell,
    count: -cell.count,
    score_sum: -cell.score_sum,
    score_sum_of_squares: -cell.score_sum_of_squares,
  }));
  return { series: gained.series, counts: [...takenAway, ...gained.counts] };
}
