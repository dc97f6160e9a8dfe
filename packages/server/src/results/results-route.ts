import {
  CorrectionRequest,
  CorrectionResponse,
  EvaluationResultPath,
  EvaluationResultResponse,
  readResultId,
} from "@presage/contract";
import { errorResponse, response } from "../http/describe.ts";
import { reserveStored } from "../http/memory.ts";
import { reply, route } from "../http/route.ts";
import type { Store } from "../platform/storage/store.ts";
import examples from "./examples.json" with { type: "json" };
import { correctResult, labelsOf, resultNotFound, withdrawCorrection } from "./labels/labels.ts";
import { toEvaluationResult } from "./result.ts";
import type { CountsMerger } from "./write/merge-counts.ts";
import { getResult, measureResult } from "./write/stored-results-store.ts";

interface ResultServices {
  store: Store;
  countsMerger: Pick<CountsMerger, "schedule">;
}

const path = "/v1/evaluation-results";

const showResult = route("GET", `${path}/:id`, {
  needs: "read",
  id: "getEvaluationResult",
  summary: "Show a result",
  description: "Shows one result, with its complete texts, its latest correction and people's labels.",
  params: EvaluationResultPath,
  responses: {
    "200": response("The result", EvaluationResultResponse, {
      evaluation_result: examples.result,
      evaluation_results: [examples.result],
      labels: [],
    }),
    ...resultNotFound,
  },
  async handle(services: ResultServices, { call, requester, params }) {
    const id = readResultId(params.id);
    reserveStored(call.exchange, await measureResult(services, requester, id));
    const result = toEvaluationResult(await getResult(services, requester, id));
    const labels = await labelsOf(services, requester, id);
    return reply(200, { evaluation_result: result, evaluation_results: [result], labels });
  },
});

const correct = route("POST", `${path}/:id/correction`, {
  needs: "evaluate",
  id: "correctEvaluationResult",
  summary: "Correct the verdict of a result",
  description:
    "Adds a person's verdict to a result; one that equals the evaluator's confirms it. Searches and summaries count the latest correction. The evaluator's own verdict stays in the result.",
  params: EvaluationResultPath,
  body: CorrectionRequest,
  bodyExample: { pass: true, comment: examples.correction.comment },
  once: "correct result",
  responses: {
    "201": response("The result with its correction, which counts from now on", CorrectionResponse, {
      evaluation_result: { ...examples.result, correction: examples.correction },
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

const withdraw = route("DELETE", `${path}/:id/correction`, {
  needs: "evaluate",
  id: "withdrawEvaluationCorrection",
  summary: "Take back a correction",
  description:
    "Removes the latest correction of a result, if it is the caller's own. The correction before it counts again, otherwise the evaluator's verdict.",
  params: EvaluationResultPath,
  responses: {
    "200": response("The result, with the correction that counts now", CorrectionResponse, {
      evaluation_result: examples.result,
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
