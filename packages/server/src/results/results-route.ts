import {
  ClientEvaluationBatchRequest,
  ClientEvaluationBatchResponse,
  CorrectionRequest,
  type CorrectionResponse,
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
  EvaluationTagListQuery,
  EvaluationTagListResponse,
  ReviewQueueRequest,
  ReviewQueueResponse,
  readResultId,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Services } from "../app/services.ts";
import { type Call, type CallWithCaller, requesterOf } from "../http/call.ts";
import {
  body,
  errorResponse,
  idempotencyHeader,
  operation,
  operationWithOldNames,
  query,
  response,
} from "../http/describe.ts";
import { reserveStored } from "../http/memory.ts";
import { readBody, readOnce, readPath } from "../http/request.ts";
import { jsonResponse, logBrokenResponse } from "../http/response.ts";
import { type Route, withCaller } from "../http/route.ts";
import {
  correctionPaths,
  correctResult,
  requestParams,
  resultNotFound,
  withdrawCorrection,
} from "./corrections.ts";
import { deleteResultOperation } from "./delete/deletions-route.ts";
import { exampleResult } from "./example-result.ts";
import { toEvaluationResult } from "./result.ts";
import { findResult, measureResult } from "./write/stored-results-store.ts";

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

const tag = "evaluation results";
export const evaluationResultPaths: ZodOpenApiPathsObject = {
  "/v1/evaluation-results/search": {
    post: operationWithOldNames("searchEvaluationResults", tag, "Search results, a page at a time", {
      description:
        "Finds the account's results, newest first by default. For the next page, send the last id of this one as `before_id`, or as `after_id` if the order is `created_at`. Without a `status`, only results with a verdict are found.",
      requestBody: body(EvaluationResultSearchRequest, {
        app: "night-runs",
        evaluator_id: "edit-distance",
        score_raw_max: 0.9,
        limit: 100,
        text_limit: 500,
      }),
      responses: {
        "200": response("The results, in the requested order", EvaluationResultSearchResponse, {
          results: [exampleResult],
        }),
        "413": errorResponse(
          "The body is too large, or the page has more than 64 MB of text; lower text_limit or limit",
          "The 1000 results of this page have 70.1 MB of text; the limit is 64 MB. Use text_limit, or a lower limit.",
        ),
      },
    }),
  },
  "/v1/evaluation-results/export": {
    get: operationWithOldNames("exportEvaluationResults", tag, "Export all results of a search", {
      description:
        "Sends all results that match the filters, as fast as the client takes them. The filters are those of the search. CSV has a header, leaves out deprecated names, and puts a quote before texts that a spreadsheet would run as formulas.",
      requestParams: { query: query(EvaluationResultExportQuery) },
      responses: {
        "200": {
          description:
            "All results of the search, without a limit, one per line, as JSON or CSV. If the connection breaks, the export is incomplete. Results that are deleted meanwhile may be missing.",
          content: {
            "application/x-ndjson": { schema: EvaluationResult, example: exampleResult },
            "text/csv": {
              schema: { type: "string" },
              example: "id,app,evaluator_id,pass\n1,night-runs,edit-distance-2026-11-21,false\n",
            },
          },
        },
      },
    }),
  },
  "/v1/evaluation-results/batch": {
    post: operationWithOldNames("importEvaluationResults", tag, "Import results from other tools", {
      description:
        "Stores up to 1,000 verdicts that another tool gave, all or none. They can be searched, summarised, corrected and exported like the account's own.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(EvaluationResultBatchRequest, {
        evaluation_results: [
          {
            evaluator_id: "house-rules",
            pass: false,
            score_raw: 0.25,
            explanation: "The apple is not mentioned.",
            evaluated_model_output: "You open the fridge.",
            app: "night-runs",
          },
        ],
      }),
      responses: {
        "201": response("The stored results, in the same order", EvaluationResultBatchResponse, {
          evaluation_results: [
            {
              id: "2",
              app: "night-runs",
              created_at: "2026-11-22T03:46:48.032Z",
              evaluator_id: "external:house-rules",
            },
          ],
        }),
        "409": errorResponse(
          "An evaluation_run_id is a run whose results Presage makes",
          "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41 is a run whose results Presage makes. Leave evaluation_run_id out, or name an experiment.",
        ),
      },
    }),
  },
  "/v1/evaluations/batch": {
    post: operation("importClientEvaluations", tag, "Import the verdicts of a client's own evaluators", {
      description:
        "Stores up to 1,000 verdicts of evaluators that ran in a client, all or none, as imported results. Clients that have such evaluators send them here in the background, without the texts. A repeated batch is stored once.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(ClientEvaluationBatchRequest, {
        evaluations: [
          {
            log_id: "15ee024e-4b3a-4e97-85d2-1c84a005a3a6",
            evaluator_id: "is_short",
            pass: true,
            score: 1,
            metric_name: "is_short",
            evaluation_duration: "PT0.001086S",
            project_name: "kitchen",
            app: "night-runs",
            tags: { split: "validation" },
          },
        ],
      }),
      responses: {
        "201": response("The stored evaluations, in the same order", ClientEvaluationBatchResponse, {
          evaluations: [
            {
              id: "3",
              log_id: "15ee024e-4b3a-4e97-85d2-1c84a005a3a6",
              created_at: "2026-11-22T03:46:48.051Z",
              app: "night-runs",
              evaluator_id: "external:is_short",
              evaluation_type: "client_evaluation",
            },
          ],
        }),
      },
    }),
  },
  "/v1/evaluation-results/summary": {
    post: operationWithOldNames("summariseEvaluationResults", tag, "Summarise results by group", {
      description:
        "Counts results and gives pass rates, mean scores and quantiles, by evaluator, profile, app, tag, UTC day or run. Without a `status`, all results are counted.",
      requestBody: body(EvaluationSummaryRequest, {
        group_by: ["evaluator", "day"],
        app: "night-runs",
      }),
      responses: {
        "200": response("The groups, by day if requested, then largest first", EvaluationSummaryResponse, {
          source: "rollups",
          groups: [
            {
              key: {
                evaluator_id: "edit-distance-2026-11-21",
                evaluator_family: "edit-distance",
                day: "2026-11-22",
              },
              count: 41,
              scored: 40,
              passed: 30,
              not_passed: 10,
              not_applicable: 0,
              failed: 1,
              interval_method: "independent",
              clusters: null,
              pass_rate: 0.75,
              pass_rate_interval: {
                level: 0.95,
                lower: 0.5980686424286384,
                upper: 0.8581385424466846,
              },
              mean_score: 0.8125,
              mean_score_interval: { level: 0.95, lower: 0.76, upper: 0.865 },
              p10: 0.531,
              p50: 0.88,
              p90: 1,
            },
          ],
        }),
      },
    }),
  },
  "/v1/evaluation-results/review": {
    post: operationWithOldNames("listReviewQueue", tag, "List results for a person to review", {
      description:
        "Of the verdicts that match, lists those that no one has corrected or confirmed, least certain first or in a random order. Send a verdict on each as its correction.",
      requestBody: body(ReviewQueueRequest, {
        evaluator_id: "edit-distance",
        order: "least-certain",
        limit: 20,
      }),
      responses: {
        "200": response("What to look at, in this order", ReviewQueueResponse, {
          considered: 480,
          has_more: false,
          reviewed: 12,
          data: [
            {
              id: exampleResult.id ?? "1",
              reason: "repeats-disagree",
              distance: 0.04,
              repeats: { passed: 1, not_passed: 2 },
            },
          ],
        }),
      },
    }),
  },
  "/v1/evaluation-results/tags": {
    get: operation("listEvaluationTags", tag, "List the tags of results", {
      description:
        "Returns every tag that the account's results have, with the times of the first and the latest result.",
      requestParams: { query: EvaluationTagListQuery },
      responses: {
        "200": response("The tags, by key and value", EvaluationTagListResponse, {
          tags: [
            {
              key: "split",
              value: "test",
              created_at: "2026-11-20T08:30:12.004Z",
              last_used: exampleResult.created_at,
            },
          ],
          next: null,
        }),
      },
    }),
  },
  "/v1/evaluation-results/{id}": {
    get: operation("getEvaluationResult", tag, "Show a result", {
      description: "Shows one result, with its complete texts and its latest correction.",
      requestParams,
      responses: {
        "200": response("The result", EvaluationResultResponse, {
          evaluation_result: exampleResult,
          evaluation_results: [exampleResult],
        }),
        ...resultNotFound,
      },
    }),
    delete: deleteResultOperation,
  },
  ...correctionPaths,
};
