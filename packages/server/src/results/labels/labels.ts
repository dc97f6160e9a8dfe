import {
  type EvaluationLabel,
  EvaluationResultPath,
  LabelListResponse,
  LabelRequest,
  readResultId,
} from "@presage/contract";
import { errorResponse, noSuch, response } from "../../http/describe.ts";
import { reply, route } from "../../http/route.ts";
import { type Changer, recordChange } from "../../platform/audit.ts";
import { conflict, notFound, ServiceError } from "../../platform/errors.ts";
import { type Micros, toFlag, toIsoInstant } from "../../platform/storage/columns.ts";
import { doOnce, type Once } from "../../platform/storage/once.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { inTransaction, type Requester, type Store } from "../../platform/storage/store.ts";
import {
  deleteCorrection,
  insertCorrection,
  selectCorrectedAt,
  selectCountedWithout,
  selectLatestCorrection,
} from "../corrections-store.ts";
import examples from "../examples.json" with { type: "json" };
import { type StoredResult, toCorrection } from "../result.ts";
import { addCounted, type Countable, lockResult, recount } from "../write/counts-store.ts";
import type { CountsMerger } from "../write/merge-counts.ts";
import { getResult, selectResults } from "../write/stored-results-store.ts";
import {
  type Annotator,
  deleteLabel,
  insertLabel,
  type LabelRow,
  selectLabels,
  selectOwnLabel,
  selectVerdict,
} from "./labels-store.ts";

export const resultNotFound = noSuch("result", "evaluation result");

/** A person's opinion of an output. */
export interface NewLabel {
  resultId: number;
  by: Annotator;
  /** Null withdraws an earlier label. */
  label: "pass" | "fail" | null;
  score: number | null;
}

/** What a person says about the verdict of a result. */
interface NewCorrection {
  userId: string;
  resultId: number;
  pass: boolean;
  /** Null: the evaluator's score if the verdict agrees, otherwise 1 for a pass, 0 for a fail; none if the evaluator gave none. */
  score: number | null;
  comment: string | null;
}

export interface LabelServices {
  store: Store;
  countsMerger: Pick<CountsMerger, "schedule">;
}

const listLabels = route("GET", "/v1/evaluation-results/:id/labels", {
  needs: "read",
  id: "listEvaluationLabels",
  summary: "List the labels of a result",
  description: "Lists people's labels of the result's output, and the correction that counts.",
  params: EvaluationResultPath,
  responses: {
    "200": response("The labels, one per person", LabelListResponse, {
      data: [examples.label],
      correction: null,
    }),
    ...resultNotFound,
  },
  async handle(services: LabelServices, { requester, params }) {
    return reply(200, await listOfLabels(services, requester, readResultId(params.id)));
  },
});

const addLabel = route("POST", "/v1/evaluation-results/:id/labels", {
  needs: "evaluate",
  id: "labelEvaluationResult",
  summary: "Label a result",
  description:
    "Stores a person's opinion of the result's output, replacing that person's earlier label; agreement with the evaluator is a label too. If the label is the caller's own and disagrees with a verdict that nobody has corrected, it also corrects the verdict; such a correction is withdrawn with its label.",
  params: EvaluationResultPath,
  body: LabelRequest,
  bodyExample: { label: "fail" },
  once: "label result",
  responses: {
    "201": response("All labels of the result", LabelListResponse, {
      data: [examples.label],
      correction: null,
    }),
    "409": errorResponse("The evaluation has no verdict", "The evaluation has no verdict to label."),
    ...resultNotFound,
  },
  async handle(services: LabelServices, { call, requester, params, body, once }) {
    const resultId = readResultId(params.id);
    const by = annotatorOf(body.annotator, call.caller.userId);
    const label = { resultId, by, label: body.label, score: body.score ?? null };
    await labelResult(services, requester, label, once);
    return reply(201, await listOfLabels(services, requester, resultId));
  },
});

export const labelRoutes = [listLabels, addLabel];

/** Stores a label in place of the same person's earlier one. */
async function labelResult(
  services: LabelServices,
  requester: Changer,
  label: NewLabel,
  once: Once | undefined,
): Promise<void> {
  const { resultId } = label;
  await doOnce(services.store.writer(requester), once, {
    async work(transaction) {
      await putLabel(transaction, requester.accountId, label);
      await recordChange(transaction, requester, "evaluation_result.label", String(resultId), {
        label: label.label,
      });
      return {};
    },
    toReceipt: () => ({}),
    recall: async () => ({}),
  });
  services.countsMerger.schedule();
}

/**
 * A user's label that disagrees with the verdict corrects it, unless somebody has already. Such a correction is deleted with its label. A
 * named annotator cannot be asked about a correction, and makes none.
 */
export async function putLabel(
  transaction: Database,
  accountId: string,
  { resultId, by, label, score }: NewLabel,
): Promise<void> {
  let locked = await lockResult(transaction, accountId, resultId);
  if (locked === undefined) throw notFound("evaluation result");
  const verdict = await selectVerdict(transaction, resultId);
  if (verdict === undefined) throw conflict("The evaluation has no verdict to label.");
  const earlier = await selectOwnLabel(transaction, resultId, by);
  let latest = await selectLatestCorrection(transaction, resultId);
  if (earlier !== undefined) await deleteLabel(transaction, earlier.id);
  if (earlier?.correction_id) {
    await removeCorrection(transaction, locked, earlier.correction_id);
    locked = (await lockResult(transaction, accountId, resultId)) ?? locked;
    latest = await selectLatestCorrection(transaction, resultId);
  }
  if (label === null) return;
  const pass = label === "pass";
  const corrects = by.user_id !== null && latest === undefined && pass !== verdict.isPass;
  const correction = corrects
    ? await appendCorrection(transaction, accountId, {
        userId: by.user_id ?? "",
        resultId,
        pass,
        score: score ?? (verdict.isGraded ? Number(pass) : null),
        comment: null,
      })
    : undefined;
  await insertLabel(transaction, {
    id: Bun.randomUUIDv7(),
    account_id: accountId,
    result_id: resultId,
    ...by,
    pass: toFlag(pass),
    score,
    correction_id: correction?.id ?? null,
    created_at: locked.now,
  });
}

/** People's labels of a result that is known to be the account's. */
export async function labelsOf(
  { store }: { store: Store },
  requester: Requester,
  resultId: number,
): Promise<EvaluationLabel[]> {
  return (await selectLabels(store.reader(requester), [resultId])).map(toLabel);
}

/** People's labels of any result, with the correction that counts. */
async function listOfLabels(
  services: { store: Store },
  requester: Requester,
  resultId: number,
): Promise<LabelListResponse> {
  const reader = services.store.reader(requester);
  const [result] = await selectResults(reader, requester.accountId, [resultId], 0);
  if (result === undefined) throw notFound("evaluation result");
  return {
    data: await labelsOf(services, requester, resultId),
    correction: result.correction ?? null,
  };
}

function toLabel(row: LabelRow): EvaluationLabel {
  return {
    result_id: String(row.result_id),
    label: row.pass === 1 ? "pass" : "fail",
    score: row.score,
    annotator: nameOf(row),
    user_id: row.user_id,
    created_at: toIsoInstant(row.created_at),
  };
}

/** Whose label it is: the named annotator's, otherwise the caller's own. */
export function annotatorOf(annotator: string | null | undefined, userId: string): Annotator {
  return annotator == null ? { user_id: userId, annotator: null } : { user_id: null, annotator };
}

/** The name that a person is shown under. */
export function nameOf({
  annotator,
  email,
  user_id,
}: Pick<LabelRow, "annotator" | "email" | "user_id">): string {
  return annotator ?? email ?? user_id ?? "";
}

/**
 * Appends a correction, which counts in searches and summaries from then on, and returns the result with it. Whether the result can
 * be corrected is checked first, because a writing transaction blocks others.
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
  const { score: own, pass: ownPass } = result.outcome;
  const ofVerdict = own === undefined ? null : pass === ownPass ? own : Number(pass);
  const score = correction.score ?? ofVerdict;
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

/** Takes back the latest correction of a result, if it is the user's own. The previous verdict counts again. */
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

/** The second of two corrections of a result waits for the first, so that it sees the verdict that the first one counted. */
async function appendCorrection(
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

/** Removes one correction of a locked result: the latest other one counts again, or else the evaluator's verdict. */
async function removeCorrection(transaction: Database, locked: Countable, correctionId: string) {
  const { pass, score } = await selectCountedWithout(transaction, locked.id, correctionId);
  await deleteCorrection(transaction, { id: correctionId, resultId: locked.id, pass, score });
  const recounted = { ...locked, counted_pass: pass, counted_score: score };
  await addCounted(transaction, recount([locked], [recounted]));
}
