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
  body,
  failures,
  idempotencyHeader,
  operation,
  query,
  response,
  tooLarge,
  withDeprecation,
} from "../docs/describe.ts";

const tag = "evaluation results";
const resultNotFound = { "404": response("The account has no such result", ErrorResponse) };
const requestParams = { path: EvaluationResultPath };

export const evaluationResultPaths: ZodOpenApiPathsObject = {
  "/v1/evaluation-results/search": {
    post: operation("searchEvaluationResults", tag, "Search results, a page at a time", {
      requestBody: body(EvaluationResultSearchRequest),
      responses: withDeprecation({
        "200": response("The results, in the requested order", EvaluationResultSearchResponse),
        ...failures,
        "413": response(
          "The body is too large, or the page has more than 64 MB of text; lower text_limit or limit",
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
            "All results of the search, without a limit, one per line, as JSON or CSV. CSV has a header, leaves out deprecated names, and puts a quote before texts that a spreadsheet would run as formulas. If the connection breaks, the export is incomplete.",
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
    post: operation("importEvaluationResults", tag, "Import results from other tools", {
      requestParams: { header: idempotencyHeader },
      requestBody: body(EvaluationResultBatchRequest),
      responses: withDeprecation({
        "201": response("The stored results, in the same order", EvaluationResultBatchResponse),
        ...failures,
        ...tooLarge,
      }),
    }),
  },
  "/v1/evaluation-results/summary": {
    post: operation("summariseEvaluationResults", tag, "Summarise results by group", {
      requestBody: body(EvaluationSummaryRequest),
      responses: withDeprecation({
        "200": response("The groups, by day if requested, then largest first", EvaluationSummaryResponse),
        ...failures,
        ...tooLarge,
      }),
    }),
  },
  "/v1/evaluation-results/{id}": {
    get: operation("getEvaluationResult", tag, "Show a result", {
      requestParams,
      responses: { "200": response("The result", EvaluationResultResponse), ...resultNotFound, ...failures },
    }),
  },
  "/v1/evaluation-results/{id}/correction": {
    post: operation("correctEvaluationResult", tag, "Correct the verdict of a result", {
      requestParams: { ...requestParams, header: idempotencyHeader },
      requestBody: body(CorrectionRequest),
      responses: {
        "201": response("The result with its correction, which counts from now on", CorrectionResponse),
        "409": response("The evaluation has no verdict", ErrorResponse),
        ...resultNotFound,
        ...failures,
        ...tooLarge,
      },
    }),
  },
};
