import {
  CorrectionRequest,
  type CorrectionResponse,
  EvaluationResultPath,
  type EvaluationResultResponse,
  readResultId,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { jsonResponse } from "../http/json-response.ts";
import { logBrokenResponse } from "../http/log-broken-response.ts";
import { readBody, readOnce, readPath } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { reserveStored } from "../http/reserve-memory.ts";
import { type Call, type CallWithCaller, type Route, withCaller } from "../http/route.ts";
import { correctResult } from "./correct-result.ts";
import { toEvaluationResult } from "./evaluation-result.ts";
import { withdrawCorrection } from "./withdraw-correction.ts";
import { findResult, measureResult } from "./write/find-result.ts";

const path = "/v1/evaluation-results";

export function evaluationResultRoutes(services: Services): Route[] {
  const { maxShortBodyBytes } = services.settings;
  const onBroken = (call: Call) => logBrokenResponse(services, call);

  /** Reserves the memory that a result takes while it is read and sent. */
  async function reserveResult(call: CallWithCaller): Promise<void> {
    reserveStored(call.exchange, await measureResult(services.evaluation, requesterOf(call), idOf(call)));
  }

  return [
    withCaller("GET", `${path}/:id`, "read", async (call) => {
      await reserveResult(call);
      const result = toEvaluationResult(await findResult(services.evaluation, requesterOf(call), idOf(call)));
      const response = { evaluation_result: result, evaluation_results: [result] };
      return jsonResponse(response satisfies EvaluationResultResponse, undefined, onBroken(call));
    }),
    withCaller("DELETE", `${path}/:id/correction`, "evaluate", async (call) => {
      const withdrawal = { userId: call.caller.userId, resultId: idOf(call) };
      await reserveResult(call);
      const result = await withdrawCorrection(services.evaluation, requesterOf(call), withdrawal);
      const response: CorrectionResponse = { evaluation_result: toEvaluationResult(result) };
      return jsonResponse(response, undefined, onBroken(call));
    }),
    withCaller("POST", `${path}/:id/correction`, "evaluate", async (call) => {
      const resultId = idOf(call);
      const body = await readBody(call, CorrectionRequest, maxShortBodyBytes);
      await reserveResult(call);
      const correction = {
        userId: call.caller.userId,
        resultId,
        pass: body.pass,
        score: body.score_raw ?? undefined,
        comment: body.comment ?? undefined,
      };
      const once = readOnce(call, "correct result", body);
      const result = await correctResult(services.evaluation, requesterOf(call), correction, once);
      const response: CorrectionResponse = { evaluation_result: toEvaluationResult(result) };
      return jsonResponse(response, { status: 201 }, onBroken(call));
    }),
  ];
}

function idOf(call: CallWithCaller): number {
  return readResultId(readPath(call, EvaluationResultPath).id);
}
