import {
  type Correction,
  CorrectionRequest,
  CorrectionResponse,
  EvaluationResultPath,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { body, errorResponse, idempotencyHeader, noSuch, operation, response } from "../http/describe.ts";
import { exampleResult } from "./example-result.ts";

const tag = "evaluation results";
export const resultNotFound = noSuch("result", "evaluation result");
export const requestParams = { path: EvaluationResultPath };
const exampleCorrection: Correction = {
  pass: true,
  score_raw: 1,
  comment: "The state does not say what is in the fridge.",
  created_at: "2026-11-22T03:46:48.009Z",
};

export const correctionPaths: ZodOpenApiPathsObject = {
  "/v1/evaluation-results/{id}/correction": {
    post: operation("correctEvaluationResult", tag, "Correct the verdict of a result", {
      description:
        "Adds a person's verdict to a result; one that equals the evaluator's confirms it. Searches and summaries count the latest correction. The evaluator's own verdict stays in the result.",
      requestParams: { ...requestParams, header: idempotencyHeader },
      requestBody: body(CorrectionRequest, { pass: true, comment: exampleCorrection.comment }),
      responses: {
        "201": response("The result with its correction, which counts from now on", CorrectionResponse, {
          evaluation_result: { ...exampleResult, correction: exampleCorrection },
        }),
        "409": errorResponse("The evaluation has no verdict", "The evaluation has no verdict to correct."),
        ...resultNotFound,
      },
    }),
    delete: operation("withdrawEvaluationCorrection", tag, "Take back a correction", {
      description:
        "Removes the latest correction of a result, if it is the caller's own. The correction before it counts again, otherwise the evaluator's verdict.",
      requestParams,
      responses: {
        "200": response("The result, with the correction that counts now", CorrectionResponse, {
          evaluation_result: exampleResult,
        }),
        "404": errorResponse(
          "The account has no such result, or its latest correction is not the caller's",
          "The latest correction of the result is not yours, or there is none.",
        ),
      },
    }),
  },
};
