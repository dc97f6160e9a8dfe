import {
  CorrectionRequest,
  CorrectionResponse,
  ErrorResponse,
  EvaluationResult,
  EvaluationResultBatchRequest,
  EvaluationResultBatchResponse,
  EvaluationResultExportQuery,
  EvaluationResultPath,
  EvaluationResultResponse,
  EvaluationResultSearchRequest,
  EvaluationResultSearchResponse,
  EvaluationSummaryRequest,
  EvaluationSummaryResponse,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import {
  answer,
  body,
  notValid,
  onceHeader,
  operation,
  query,
  storeUnavailable,
  tooLarge,
  unauthenticated,
  withDeprecation,
} from "../docs/describe.ts";

const tag = "evaluation results";
const failures = { ...unauthenticated, ...notValid, ...storeUnavailable };
const noResult = { "404": answer("The account has no such result", ErrorResponse) };
const requestParams = { path: EvaluationResultPath };

export const evaluationResultPaths: ZodOpenApiPathsObject = {
  "/v1/evaluation-results/search": {
    post: operation("searchEvaluationResults", tag, "Search results, a page at a time", {
      requestBody: body(EvaluationResultSearchRequest),
      responses: withDeprecation({
        "200": answer("The results in the order asked for", EvaluationResultSearchResponse),
        ...failures,
        "413": answer(
          "The body is too large, or the page: over 64 MB of text, for which text_limit and limit help",
          ErrorResponse,
        ),
      }),
    }),
  },
  "/v1/evaluation-results/export": {
    get: operation("exportEvaluationResults", tag, "Export all results of a search", {
      requestParams: { query: query(EvaluationResultExportQuery) },
      responses: withDeprecation({
        "200": {
          description:
            "All results of the search, without a limit: a result a line, as JSON or as CSV. CSV has a head, today's names only, and a quote before texts that a spreadsheet would run. If the connection breaks off, there is more.",
          content: {
            "application/x-ndjson": { schema: EvaluationResult },
            "text/csv": { schema: { type: "string" } },
          },
        },
        ...failures,
      }),
    }),
  },
  "/v1/evaluation-results/batch": {
    post: operation("importEvaluationResults", tag, "Import results that were made elsewhere", {
      requestParams: { header: onceHeader },
      requestBody: body(EvaluationResultBatchRequest),
      responses: withDeprecation({
        "201": answer("What was stored, in the same order", EvaluationResultBatchResponse),
        "409": answer("Another request with the same Idempotency-Key is under way", ErrorResponse),
        ...failures,
        ...tooLarge,
      }),
    }),
  },
  "/v1/evaluation-results/summary": {
    post: operation("summariseEvaluationResults", tag, "Count, and compare groups", {
      requestBody: body(EvaluationSummaryRequest),
      responses: withDeprecation({
        "200": answer("The groups: by day if asked for, and the largest first", EvaluationSummaryResponse),
        ...failures,
        ...tooLarge,
      }),
    }),
  },
  "/v1/evaluation-results/{id}": {
    get: operation("getEvaluationResult", tag, "Show a result", {
      requestParams,
      responses: { "200": answer("The result", EvaluationResultResponse), ...noResult, ...failures },
    }),
  },
  "/v1/evaluation-results/{id}/correction": {
    post: operation("correctEvaluationResult", tag, "Say what the verdict should have been", {
      requestParams: { ...requestParams, header: onceHeader },
      requestBody: body(CorrectionRequest),
      responses: {
        "201": answer("The result with the correction, which counts from now on", CorrectionResponse),
        "409": answer("The evaluation came to no verdict", ErrorResponse),
        ...noResult,
        ...failures,
        ...tooLarge,
      },
    }),
  },
};
