import {
  type Correction,
  CorrectionRequest,
  CorrectionResponse,
  EvaluationResultPath,
  EvaluationResultResponse,
  readResultId,
} from "@presage/contract";
import { errorResponse, noSuch, response } from "../http/describe.ts";
import { reserveStored } from "../http/memory.ts";
import { reply, route } from "../http/route.ts";
import { type Changer, recordChange } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { type Micros, toFlag } from "../platform/storage/columns.ts";
import { doOnce, type Once } from "../platform/storage/once.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Store } from "../platform/storage/store.ts";
import {
  deleteCorrection,
  insertCorrection,
  selectCorrectedAt,
  selectCountedWithout,
  selectLatestCorrection,
} from "./corrections-store.ts";
import { exampleResult, type StoredResult, toCorrection, toEvaluationResult } from "./result.ts";
import { addCounted, lockResult, recount } from "./write/counts-store.ts";
import type { CountsMerger } from "./write/merge-counts.ts";
import { getResult, measureResult, noSuchResult } from "./write/stored-results-store.ts";

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
async function correctResult(
  services: { store: Store; countsMerger: Pick<CountsMerger, "schedule"> },
  requester: Changer,
  correction: NewCorrection,
  once: Once | undefined,
): Promise<StoredResult> {
  const { resultId, pass, comment } = correction;
  // All of the response is read before the change: once that is committed, no read may fail the request.
  const result = await getResult(services, requester, resultId);
  if (result.outcome.status !== "success") {
    throw new ServiceError("conflict", "The evaluation has no verdict to correct.");
  }
  const isGraded = result.outcome.score !== undefined;
  const score = correction.score ?? (isGraded ? Number(pass) : null);
  // A repeated request contains all but the time of the first.
  const { createdAt } = await doOnce(services.store.writer(requester), once, {
    async work(transaction) {
      const appended = await appendCorrection(transaction, requester.accountId, { ...correction, score });
      await recordChange(transaction, requester, {
        action: "evaluation_result.correct",
        objectId: String(resultId),
        detail: { pass, score },
      });
      return appended;
    },
    toReceipt: (appended) => appended,
    recall: async (appended) => appended,
  });
  services.countsMerger.schedule();
  const row = { pass: toFlag(pass), score, comment, created_at: createdAt };
  return { ...result, correction: toCorrection(row) };
}

/** Of two corrections of one result the second waits for the first, so that it sees what the first one counted. */
async function appendCorrection(
  transaction: Database,
  accountId: string,
  { userId, resultId, pass, score, comment }: NewCorrection,
): Promise<{ createdAt: Micros }> {
  const locked = await lockResult(transaction, accountId, resultId);
  if (locked === undefined) throw noSuchResult();
  const createdAt = Math.max(locked.now, ((await selectCorrectedAt(transaction, resultId)) ?? 0) + 1);
  await insertCorrection(transaction, {
    id: Bun.randomUUIDv7(),
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
  return { createdAt };
}

/** Takes back the latest correction of a result, if it is the user's own. The verdict from before it counts again. */
async function withdrawCorrection(
  services: { store: Store; countsMerger: Pick<CountsMerger, "schedule"> },
  requester: Changer,
  withdrawal: { userId: string; resultId: number },
): Promise<StoredResult> {
  await services.store
    .writer(requester)
    .transaction()
    .execute(async (transaction) => {
      await takeBack(transaction, requester.accountId, withdrawal);
      await recordChange(transaction, requester, {
        action: "evaluation_result.withdraw_correction",
        objectId: String(withdrawal.resultId),
      });
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
  if (locked === undefined) throw noSuchResult();
  const latest = await selectLatestCorrection(transaction, resultId);
  if (latest?.user_id !== userId) {
    throw new ServiceError(
      "not_found",
      "The latest correction of the result is not yours, or there is none.",
    );
  }
  const { pass, score } = await selectCountedWithout(transaction, resultId, latest.id);
  await deleteCorrection(transaction, { id: latest.id, resultId, pass, score });
  const recounted = { ...locked, counted_pass: pass, counted_score: score };
  await addCounted(transaction, recount([locked], [recounted]));
}

interface ResultServices {
  store: Store;
  countsMerger: Pick<CountsMerger, "schedule">;
}

const tag = "evaluation results";
const path = "/v1/evaluation-results";
const resultNotFound = noSuch("result", "evaluation result");
const exampleCorrection: Correction = {
  pass: true,
  score_raw: 1,
  comment: "The state does not say what is in the fridge.",
  created_at: "2026-11-22T03:46:48.009Z",
};

const showResult = route({
  method: "GET",
  path: `${path}/:id`,
  needs: "read",
  id: "getEvaluationResult",
  tag,
  summary: "Show a result",
  description: "Shows one result, with its complete texts and its latest correction.",
  params: EvaluationResultPath,
  responses: {
    "200": response("The result", EvaluationResultResponse, {
      evaluation_result: exampleResult,
      evaluation_results: [exampleResult],
    }),
    ...resultNotFound,
  },
  async handle(services: ResultServices, { call, requester, params }) {
    const id = readResultId(params.id);
    reserveStored(call.exchange, await measureResult(services, requester, id));
    const result = toEvaluationResult(await getResult(services, requester, id));
    return reply(200, { evaluation_result: result, evaluation_results: [result] });
  },
});

const correct = route({
  method: "POST",
  path: `${path}/:id/correction`,
  needs: "evaluate",
  id: "correctEvaluationResult",
  tag,
  summary: "Correct the verdict of a result",
  description:
    "Adds a person's verdict to a result; one that equals the evaluator's confirms it. Searches and summaries count the latest correction. The evaluator's own verdict stays in the result.",
  params: EvaluationResultPath,
  body: CorrectionRequest,
  bodyExample: { pass: true, comment: exampleCorrection.comment },
  once: "correct result",
  responses: {
    "201": response("The result with its correction, which counts from now on", CorrectionResponse, {
      evaluation_result: { ...exampleResult, correction: exampleCorrection },
    }),
    "409": errorResponse("The evaluation has no verdict", "The evaluation has no verdict to correct."),
    ...resultNotFound,
  },
  async handle(services: ResultServices, { call, requester, params, body, once }) {
    const resultId = readResultId(params.id);
    reserveStored(call.exchange, await measureResult(services, requester, resultId));
    const correction = {
      userId: call.caller.userId,
      resultId,
      pass: body.pass,
      score: body.score_raw ?? null,
      comment: body.comment ?? null,
    };
    const result = await correctResult(services, requester, correction, once);
    return reply(201, { evaluation_result: toEvaluationResult(result) });
  },
});

const withdraw = route({
  method: "DELETE",
  path: `${path}/:id/correction`,
  needs: "evaluate",
  id: "withdrawEvaluationCorrection",
  tag,
  summary: "Take back a correction",
  description:
    "Removes the latest correction of a result, if it is the caller's own. The correction before it counts again, otherwise the evaluator's verdict.",
  params: EvaluationResultPath,
  responses: {
    "200": response("The result, with the correction that counts now", CorrectionResponse, {
      evaluation_result: exampleResult,
    }),
    "404": errorResponse(
      "The account has no such result, or its latest correction is not the caller's",
      "The latest correction of the result is not yours, or there is none.",
    ),
  },
  async handle(services: ResultServices, { call, requester, params }) {
    const withdrawal = { userId: call.caller.userId, resultId: readResultId(params.id) };
    reserveStored(call.exchange, await measureResult(services, requester, withdrawal.resultId));
    const result = await withdrawCorrection(services, requester, withdrawal);
    return reply(200, { evaluation_result: toEvaluationResult(result) });
  },
});

export const evaluationResultRoutes = [showResult, correct, withdraw];
