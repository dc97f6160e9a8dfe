import {
  CorrectionRequest,
  type CorrectionResponse,
  EvaluationResultBatchRequest,
  type EvaluationResultBatchResponse,
  EvaluationResultExportQuery,
  EvaluationResultPath,
  type EvaluationResultResponse,
  EvaluationResultSearchRequest,
  type EvaluationResultSearchResponse,
  EvaluationSummaryRequest,
  readResultId,
  type ValidationError,
} from "@presage/contract";
import type { NewCorrection } from "../../evaluation/results/correct-result.ts";
import type { KeptResult } from "../../evaluation/results/evaluation-record.ts";
import type { ImportedResult } from "../../evaluation/results/import-results.ts";
import type { Page, SearchFilter } from "../../evaluation/results/result-filter.ts";
import { type Summary, TooManyGroupsError, type WantedSummary } from "../../evaluation/results/summarise.ts";
import type { Logger } from "../../observability/logger.ts";
import { toIsoInstant } from "../../storage/micros.ts";
import { toEvaluationResult } from "../evaluation-result.ts";
import { toSummaryResponse } from "../evaluation-summary.ts";
import { exportFormat } from "../export-format.ts";
import { keepOpen } from "../keep-open.ts";
import { readImportedResults } from "../read-imported-result.ts";
import { readBody, readPath, readQuery } from "../read-request.ts";
import {
  type ResolveEvaluatorId,
  readExportQuery,
  readOrder,
  readResultFilter,
  readSearchFilter,
  refuseUnknownFilters,
} from "../read-result-filter.ts";
import { type CallWithCaller, type Route, withCaller } from "../route.ts";
import { streamExport } from "../stream-export.ts";
import { ValidationFailure } from "../validation.ts";

export interface EvaluationResultsArea {
  /** The id that a filter means by an id or an alias. */
  resolveEvaluatorId(accountId: string, idOrAlias: string): Promise<string>;
  searchResults(accountId: string, filter: SearchFilter, page: Page): Promise<KeptResult[]>;
  /** All results of a filter, a piece at a time and no piece empty. */
  exportResults(
    accountId: string,
    filter: SearchFilter,
    order: Page["order"],
  ): AsyncIterator<readonly KeptResult[], void>;
  findResult(accountId: string, id: number): Promise<KeptResult>;
  correctResult(accountId: string, correction: NewCorrection): Promise<KeptResult>;
  importResults(accountId: string, results: readonly ImportedResult[]): Promise<KeptResult[]>;
  summarise(accountId: string, wanted: WantedSummary): Promise<Summary>;
}

const path = "/v1/evaluation-results";
const defaultLimit = 50;
/** What no rollup answers reads every result of its filter, and may wait for others that do. The store gives up after this. */
const longestReadMs = 60_000;
/** Results wait for those that came before them. */
const longestImportMs = 60_000;

export function evaluationResultRoutes(
  area: EvaluationResultsArea,
  maxBodyBytes: number,
  logger: Pick<Logger, "error">,
): Route[] {
  const resolverOf =
    ({ caller }: CallWithCaller): ResolveEvaluatorId =>
    (idOrAlias) =>
      area.resolveEvaluatorId(caller.accountId, idOrAlias);
  return [
    withCaller("GET", `${path}/:id`, async (call) => {
      const result = toEvaluationResult(await area.findResult(call.caller.accountId, idOf(call)));
      const answer = { evaluation_result: result, evaluation_results: [result] };
      return Response.json(answer satisfies EvaluationResultResponse);
    }),
    withCaller("POST", `${path}/search`, async (call) => {
      const body = await readBody(call, EvaluationResultSearchRequest, maxBodyBytes);
      refuseUnknownFilters(EvaluationResultSearchRequest, body, "body");
      const filter = await readSearchFilter(body, resolverOf(call));
      const page = {
        order: readOrder(body.order),
        limit: body.limit ?? defaultLimit,
        maxTextCharacters: body.text_limit ?? undefined,
      };
      keepOpen(call, longestReadMs);
      const results = await area.searchResults(call.caller.accountId, filter, page);
      const answer = { results: results.map(toEvaluationResult) };
      return Response.json(answer satisfies EvaluationResultSearchResponse);
    }),
    withCaller("GET", `${path}/export`, async (call) => {
      const { exchange, caller } = call;
      const query = readQuery(call, EvaluationResultExportQuery);
      refuseUnknownFilters(EvaluationResultExportQuery, query, "query");
      const { filter: fields, order, format } = readExportQuery(query);
      const filter = await readSearchFilter(fields, resolverOf(call));
      keepOpen(call, longestReadMs);
      const pieces = area.exportResults(caller.accountId, filter, order);
      const written = await exportFormat(format);
      const stream = await streamExport(pieces, written, (error) =>
        logger.error({ requestId: exchange.requestId, err: error }, "an export broke off"),
      );
      return new Response(stream, {
        headers: {
          "content-type": written.contentType,
          "content-disposition": `attachment; filename="evaluation-results.${format}"`,
        },
      });
    }),
    withCaller("POST", `${path}/batch`, async (call) => {
      const body = await readBody(call, EvaluationResultBatchRequest, maxBodyBytes);
      const imported = readImportedResults(body.evaluation_results);
      keepOpen(call, longestImportMs);
      const kept = await area.importResults(call.caller.accountId, imported);
      return Response.json(toBatchResponse(kept), { status: 201 });
    }),
    withCaller("POST", `${path}/summary`, async (call) => {
      const body = await readBody(call, EvaluationSummaryRequest, maxBodyBytes);
      const dimensions = body.group_by ?? [];
      if (dimensions.includes("tag") && !body.tag) {
        const fault = { type: "missing", loc: ["body", "tag"], msg: "Field required", input: body };
        throw new ValidationFailure([fault]);
      }
      refuseUnknownFilters(EvaluationSummaryRequest, body, "body");
      const filter = await readResultFilter(body, resolverOf(call));
      const wanted = { filter, dimensions, tag: body.tag ?? undefined };
      keepOpen(call, longestReadMs);
      const summary = await area.summarise(call.caller.accountId, wanted).catch((error: unknown) => {
        if (!(error instanceof TooManyGroupsError)) throw error;
        throw new ValidationFailure([tooManyGroups(error.message, dimensions)]);
      });
      return Response.json(toSummaryResponse(summary));
    }),
    withCaller("POST", `${path}/:id/correction`, async (call) => {
      const resultId = idOf(call);
      const body = await readBody(call, CorrectionRequest, maxBodyBytes);
      const { accountId, userId } = call.caller;
      const result = await area.correctResult(accountId, {
        userId,
        resultId,
        pass: body.pass,
        score: body.score_raw ?? undefined,
        comment: body.comment ?? undefined,
      });
      const answer: CorrectionResponse = { evaluation_result: toEvaluationResult(result) };
      return Response.json(answer, { status: 201 });
    }),
  ];
}

function tooManyGroups(error: string, input: readonly string[]): ValidationError {
  const loc = ["body", "group_by"];
  return { type: "value_error", loc, msg: `Value error, ${error}`, input, ctx: { error } };
}

function idOf(call: CallWithCaller): number {
  return readResultId(readPath(call, EvaluationResultPath).id);
}

function toBatchResponse(kept: readonly KeptResult[]): EvaluationResultBatchResponse {
  return {
    evaluation_results: kept.map(({ id, filing, createdAt, evaluatorId }) => ({
      id: String(id),
      app: filing.app,
      created_at: toIsoInstant(createdAt),
      evaluator_id: evaluatorId,
    })),
  };
}
