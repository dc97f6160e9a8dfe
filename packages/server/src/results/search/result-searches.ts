import {
  EvaluationResultExportQuery,
  EvaluationResultSearchRequest,
  type EvaluationResultSearchResponse,
  EvaluationSummaryRequest,
  EvaluationTagListQuery,
  type EvaluationTagListResponse,
  ReviewQueueRequest,
  type ReviewQueueResponse,
  readTagCursor,
  writeTagCursor,
} from "@presage/contract";
import type { Services } from "../../app/services.ts";
import { keepOpenForEach } from "../../http/keep-open.ts";
import { logBrokenResponse } from "../../http/log-broken-response.ts";
import { missing, valueError } from "../../http/pydantic-issues.ts";
import { readBody, readKnownQuery, readQuery } from "../../http/read-request.ts";
import { requesterOf } from "../../http/requester-of.ts";
import { reserveStored } from "../../http/reserve-memory.ts";
import { type Route, withCaller } from "../../http/route.ts";
import { streamList } from "../../http/stream-list.ts";
import { streamTexts } from "../../http/stream-texts.ts";
import { InvalidRequestError, refuseUnknownFields } from "../../http/validate.ts";
import { toIsoInstant } from "../../platform/storage/micros.ts";
import type { StoredResult } from "../evaluation-record.ts";
import { toEvaluationResult } from "../evaluation-result.ts";
import { queueForReview, type ReviewQueue } from "../queue-for-review.ts";
import { summarise, TooManyGroupsError } from "../summary/summarise.ts";
import { toSummaryResponse } from "./evaluation-summary.ts";
import { exportFormat, exportTexts } from "./export-format.ts";
import {
  readExportQuery,
  readResultFilter,
  readSearchFilter,
  readSearchOrder,
} from "./read-result-filter.ts";
import { exportResults, searchResults } from "./search-results.ts";
import { listTags } from "./tags-store.ts";

const path = "/v1/evaluation-results";
const defaultLimit = 50;
const defaultTagLimit = 1_000;
/** An export reads about this much at once, more only if one result is larger. */
const bytesOfExport = 1_000_000;

export function resultSearchRoutes(services: Services): Route[] {
  const { maxShortBodyBytes } = services.settings;
  return [
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
      const query = readKnownQuery(call, EvaluationResultExportQuery);
      const { filter: fields, order, format } = readExportQuery(query);
      const filter = await readSearchFilter(services.evaluation, call, fields);
      const pieces = exportResults(services.evaluation, requesterOf(call), filter, order);
      const written = await exportFormat(format);
      reserveStored(call.exchange, bytesOfExport);
      const texts = keepOpenForEach(call, exportTexts(pieces, written));
      const stream = await streamTexts(texts, logBrokenResponse(services, call));
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
      const queue = await queueForReview(services.evaluation, requesterOf(call), {
        filter: await readSearchFilter(services.evaluation, call, body),
        order: body.order ?? "least-certain",
        seed: body.seed ?? 1,
        limit: body.limit ?? defaultLimit,
      });
      return Response.json(toQueueResponse(queue));
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
  ];
}

function toResultJson(result: StoredResult): string {
  return JSON.stringify(toEvaluationResult(result));
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
