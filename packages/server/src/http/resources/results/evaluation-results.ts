import {
  CorrectionRequest,
  type CorrectionResponse,
  EvaluationResultExportQuery,
  EvaluationResultPath,
  type EvaluationResultResponse,
  EvaluationResultSearchRequest,
  type EvaluationResultSearchResponse,
  EvaluationSummaryRequest,
  EvaluationTagListQuery,
  type EvaluationTagListResponse,
  ReviewQueueRequest,
  type ReviewQueueResponse,
  readResultId,
  readTagCursor,
  writeTagCursor,
} from "@presage/contract";
import { correctResult } from "../../../evaluation/results/corrections/correct-result.ts";
import { withdrawCorrection } from "../../../evaluation/results/corrections/withdraw-correction.ts";
import type { StoredResult } from "../../../evaluation/results/record/evaluation-record.ts";
import { findResult, measureResult } from "../../../evaluation/results/record/find-result.ts";
import { queueForReview, type ReviewQueue } from "../../../evaluation/results/review/queue-for-review.ts";
import { exportResults, searchResults } from "../../../evaluation/results/search/search-results.ts";
import { listTags } from "../../../evaluation/results/search/tags-store.ts";
import { summarise, TooManyGroupsError } from "../../../evaluation/results/summary/summarise.ts";
import { toIsoInstant } from "../../../storage/micros.ts";
import { keepOpenForEach } from "../../pipeline/keep-open.ts";
import { reserveStored } from "../../pipeline/reserve-memory.ts";
import { type Call, type CallWithCaller, type Route, withCaller } from "../../pipeline/route.ts";
import { missing, valueError } from "../../request/pydantic-issues.ts";
import { readBody, readOnce, readPath, readQuery } from "../../request/read-request.ts";
import { requesterOf } from "../../request/requester-of.ts";
import { InvalidRequestError, refuseUnknownFields } from "../../request/validate.ts";
import { jsonResponse } from "../../response/json-response.ts";
import { logBrokenResponse } from "../../response/log-broken-response.ts";
import { streamList } from "../../response/stream-list.ts";
import { streamTexts } from "../../response/stream-texts.ts";
import type { Services } from "../../services.ts";
import { toEvaluationResult } from "./evaluation-result.ts";
import { toSummaryResponse } from "./evaluation-summary.ts";
import { exportFormat, exportTexts } from "./export-format.ts";
import {
  readExportQuery,
  readResultFilter,
  readSearchFilter,
  readSearchOrder,
} from "./read-result-filter.ts";

const path = "/v1/evaluation-results";
const defaultLimit = 50;
const defaultTagLimit = 1_000;
/** An export reads about this much at once, more only if one result is larger. */
const bytesOfExport = 1_000_000;

export function evaluationResultRoutes(services: Services): Route[] {
  const onBroken = (call: Call) => logBrokenResponse(services, call);
  const { maxShortBodyBytes } = services.settings;

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
    withCaller("GET", `${path}/tags`, "read", async (call) => {
      const { limit, after } = readQuery(call, EvaluationTagListQuery);
      const page = {
        limit: Number(limit ?? defaultTagLimit),
        after: after === undefined ? undefined : readTagCursor(after),
      };
      const { tags, next } = await listTags(services.evaluation, requesterOf(call), page);
      const response: EvaluationTagListResponse = {
        tags: tags.map(({ createdAt, lastUsed, ...tag }) => ({
          ...tag,
          created_at: toIsoInstant(createdAt),
          last_used: toIsoInstant(lastUsed),
        })),
        next: next === undefined ? null : writeTagCursor(next),
      };
      return Response.json(response);
    }),
    withCaller("POST", `${path}/search`, "read", async (call) => {
      const body = await readBody(call, EvaluationResultSearchRequest, maxShortBodyBytes);
      refuseUnknownFields(EvaluationResultSearchRequest, body, "body");
      const datasetSampleIds = body.dataset_sample_ids ?? undefined;
      const filter = { ...(await readSearchFilter(services.evaluation, call, body)), datasetSampleIds };
      const page = {
        order: readSearchOrder(body.order),
        limit: body.limit ?? defaultLimit,
        maxTextCharacters: body.text_limit ?? undefined,
      };
      const found = await searchResults(services.evaluation, requesterOf(call), filter, page);
      const name: keyof EvaluationResultSearchResponse = "results";
      return await streamList(services, call, name, found, toResultJson);
    }),
    withCaller("GET", `${path}/export`, "read", async (call) => {
      const query = readQuery(call, EvaluationResultExportQuery);
      refuseUnknownFields(EvaluationResultExportQuery, query, "query");
      const { filter: fields, order, format } = readExportQuery(query);
      const filter = await readSearchFilter(services.evaluation, call, fields);
      const pieces = exportResults(services.evaluation, requesterOf(call), filter, order);
      const written = await exportFormat(format);
      reserveStored(call.exchange, bytesOfExport);
      const texts = keepOpenForEach(call, exportTexts(pieces, written));
      const stream = await streamTexts(texts, onBroken(call));
      return new Response(stream, {
        headers: {
          "content-type": written.contentType,
          "content-disposition": `attachment; filename="evaluation-results.${format}"`,
        },
      });
    }),
    withCaller("POST", `${path}/summary`, "read", async (call) => {
      const body = await readBody(call, EvaluationSummaryRequest, maxShortBodyBytes);
      const dimensions = body.group_by ?? [];
      if (dimensions.includes("tag") && !body.tag) {
        throw new InvalidRequestError([missing(["body", "tag"], body)]);
      }
      refuseUnknownFields(EvaluationSummaryRequest, body, "body");
      const filter = await readResultFilter(services.evaluation, call, body);
      const hasIntervals = body.intervals ?? true;
      const wanted = { filter, dimensions, tag: body.tag ?? undefined, hasIntervals };
      const summary = await summarise(services.evaluation, requesterOf(call), wanted).catch(
        (error: unknown) => {
          if (!(error instanceof TooManyGroupsError)) throw error;
          throw new InvalidRequestError([valueError(["body", "group_by"], error.message, dimensions)]);
        },
      );
      return Response.json(toSummaryResponse(summary));
    }),
    withCaller("POST", `${path}/review`, "read", async (call) => {
      const body = await readBody(call, ReviewQueueRequest, maxShortBodyBytes);
      refuseUnknownFields(ReviewQueueRequest, body, "body");
      const queue = await queueForReview(services.evaluation, requesterOf(call), {
        filter: await readSearchFilter(services.evaluation, call, body),
        order: body.order ?? "least-certain",
        seed: body.seed ?? 1,
        limit: body.limit ?? defaultLimit,
      });
      return Response.json(toQueueResponse(queue));
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

function toResultJson(result: StoredResult): string {
  return JSON.stringify(toEvaluationResult(result));
}

function idOf(call: CallWithCaller): number {
  return readResultId(readPath(call, EvaluationResultPath).id);
}

function toQueueResponse({ items, ...counts }: ReviewQueue): ReviewQueueResponse {
  return {
    ...counts,
    data: items.map(({ id, repeats, ...item }) => ({
      ...item,
      id: String(id),
      repeats: repeats && { passed: repeats.passed, not_passed: repeats.notPassed },
    })),
  };
}
