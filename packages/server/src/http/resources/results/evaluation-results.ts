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
import type { NewCorrection } from "../../../evaluation/results/corrections/correct-result.ts";
import type { ImportedResult } from "../../../evaluation/results/keep/import-results.ts";
import type {
  ImportReceipt,
  ImportResultsOnce,
} from "../../../evaluation/results/keep/import-results-once.ts";
import type { KeptResult } from "../../../evaluation/results/record/evaluation-record.ts";
import type { Page, SearchFilter } from "../../../evaluation/results/search/result-filter.ts";
import {
  type Summary,
  TooManyGroupsError,
  type WantedSummary,
} from "../../../evaluation/results/summary/summarise.ts";
import { charactersOf } from "../../../evaluation/sample.ts";
import type { Log } from "../../../observability/logger.ts";
import type { Once } from "../../../storage/idempotency/once.ts";
import { toIsoInstant } from "../../../storage/micros.ts";
import type { Pieces } from "../../../storage/read-in-pieces.ts";
import type { Asker } from "../../../storage/reader.ts";
import { holdResults, holdStored } from "../../pipeline/hold-memory.ts";
import { keepOpenForEach } from "../../pipeline/keep-open.ts";
import { type CallWithCaller, type Route, withCaller } from "../../pipeline/route.ts";
import { askerOf } from "../../request/asker-of.ts";
import { readOnce } from "../../request/read-idempotency-key.ts";
import { readBody, readExactBody, readPath, readQuery } from "../../request/read-request.ts";
import { ValidationFailure } from "../../request/validation.ts";
import { answerBroke } from "../../response/answer-broke.ts";
import { answerJson } from "../../response/answer-json.ts";
import { streamList } from "../../response/stream-list.ts";
import { streamTexts } from "../../response/stream-texts.ts";
import { toEvaluationResult } from "./evaluation-result.ts";
import { toSummaryResponse } from "./evaluation-summary.ts";
import { exportFormat } from "./export-format.ts";
import { exportTexts } from "./export-texts.ts";
import { readImportedResults } from "./read-imported-result.ts";
import {
  type ResolveEvaluatorId,
  readExportQuery,
  readOrder,
  readResultFilter,
  readSearchFilter,
  refuseUnknownFilters,
} from "./read-result-filter.ts";

export interface EvaluationResultsArea {
  /** The id that a filter means by an id or an alias. */
  resolveEvaluatorId(asker: Asker, idOrAlias: string): Promise<string>;
  searchResults(asker: Asker, filter: SearchFilter, page: Page): Promise<Pieces<KeptResult>>;
  /** All results of a filter, a piece at a time and no piece empty. */
  exportResults(
    asker: Asker,
    filter: SearchFilter,
    order: Page["order"],
  ): AsyncIterable<readonly KeptResult[], void>;
  /** About how many bytes its texts take; 0 without such a result. */
  measureResult(asker: Asker, id: number): Promise<number>;
  findResult(asker: Asker, id: number): Promise<KeptResult>;
  correctResult(asker: Asker, correction: NewCorrection, once: Once | undefined): Promise<KeptResult>;
  importResults: ImportResultsOnce;
  summarise(asker: Asker, wanted: WantedSummary): Promise<Summary>;
}

const path = "/v1/evaluation-results";
const defaultLimit = 50;
/** An export reads about so much at once, and more only where one result has more. */
const bytesOfExport = 1_000_000;

export function evaluationResultRoutes(
  area: EvaluationResultsArea,
  { maxBodyBytes, maxBatchBytes }: { maxBodyBytes: number; maxBatchBytes: number },
  log: Log,
): Route[] {
  const resolverOf =
    (call: CallWithCaller): ResolveEvaluatorId =>
    (idOrAlias) =>
      area.resolveEvaluatorId(askerOf(call), idOrAlias);
  const onBroken = answerBroke(log);

  /** Counts what a result takes while it is read and answered. */
  async function holdResult(call: CallWithCaller): Promise<void> {
    holdStored(call.exchange, await area.measureResult(askerOf(call), idOf(call)));
  }

  return [
    withCaller("GET", `${path}/:id`, async (call) => {
      await holdResult(call);
      const result = toEvaluationResult(await area.findResult(askerOf(call), idOf(call)));
      const answer = { evaluation_result: result, evaluation_results: [result] };
      return answerJson(answer satisfies EvaluationResultResponse, undefined, onBroken(call));
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
      const found = await area.searchResults(askerOf(call), filter, page);
      const name: keyof EvaluationResultSearchResponse = "results";
      return await streamList(call, name, found, toResultJson, onBroken(call));
    }),
    withCaller("GET", `${path}/export`, async (call) => {
      const query = readQuery(call, EvaluationResultExportQuery);
      refuseUnknownFilters(EvaluationResultExportQuery, query, "query");
      const { filter: fields, order, format } = readExportQuery(query);
      const filter = await readSearchFilter(fields, resolverOf(call));
      const pieces = area.exportResults(askerOf(call), filter, order);
      const written = await exportFormat(format);
      holdStored(call.exchange, bytesOfExport);
      const texts = keepOpenForEach(call, exportTexts(pieces, written));
      const stream = await streamTexts(texts, onBroken(call));
      return new Response(stream, {
        headers: {
          "content-type": written.contentType,
          "content-disposition": `attachment; filename="evaluation-results.${format}"`,
        },
      });
    }),
    withCaller("POST", `${path}/batch`, async (call) => {
      const body = await readExactBody(call, EvaluationResultBatchRequest, maxBatchBytes);
      const imported = readImportedResults(body.evaluation_results);
      const keptCharacters = imported.reduce((sum, result) => sum + charactersOfImport(result), 0);
      holdResults(call.exchange, { kept: imported.length, keptCharacters, isAnswerLong: false });
      const kept = await area.importResults(askerOf(call), imported, readOnce(call, "import results", body));
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
      const summary = await area.summarise(askerOf(call), wanted).catch((error: unknown) => {
        if (!(error instanceof TooManyGroupsError)) throw error;
        throw new ValidationFailure([tooManyGroups(error.message, dimensions)]);
      });
      return Response.json(toSummaryResponse(summary));
    }),
    withCaller("POST", `${path}/:id/correction`, async (call) => {
      const resultId = idOf(call);
      const body = await readBody(call, CorrectionRequest, maxBodyBytes);
      await holdResult(call);
      const correction = {
        userId: call.caller.userId,
        resultId,
        pass: body.pass,
        score: body.score_raw ?? undefined,
        comment: body.comment ?? undefined,
      };
      const once = readOnce(call, "correct result", body);
      const result = await area.correctResult(askerOf(call), correction, once);
      const answer: CorrectionResponse = { evaluation_result: toEvaluationResult(result) };
      return answerJson(answer, { status: 201 }, onBroken(call));
    }),
  ];
}

function charactersOfImport({ sample, outcome }: ImportedResult): number {
  return charactersOf(sample) + (outcome.explanation?.length ?? 0);
}

function toResultJson(result: KeptResult): string {
  return JSON.stringify(toEvaluationResult(result));
}

function tooManyGroups(error: string, input: readonly string[]): ValidationError {
  const loc = ["body", "group_by"];
  return { type: "value_error", loc, msg: `Value error, ${error}`, input, ctx: { error } };
}

function idOf(call: CallWithCaller): number {
  return readResultId(readPath(call, EvaluationResultPath).id);
}

function toBatchResponse(imported: readonly ImportReceipt[]): EvaluationResultBatchResponse {
  return {
    evaluation_results: imported.map(({ id, app, createdAt, evaluatorId }) => ({
      id: String(id),
      app,
      created_at: toIsoInstant(createdAt),
      evaluator_id: evaluatorId,
    })),
  };
}
