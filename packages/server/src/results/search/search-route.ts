import {
  AppListQuery,
  AppListResponse,
  defaultPageLimit,
  EvaluationResultExportQuery,
  EvaluationResultFilter,
  EvaluationResultSearchRequest,
  type EvaluationResultSearchResponse,
  EvaluationSummaryRequest,
  EvaluationTagListQuery,
  type EvaluationTagListResponse,
  isTrueWord,
  ReviewQueueRequest,
  type ReviewQueueResponse,
  readInstant,
  readResultId,
  readTagCursor,
  type ValidationError,
  writeTagCursor,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import type { Services } from "../../app/services.ts";
import { readEvaluatorName, readProfileName } from "../../evaluators/old-names.ts";
import type { Registry } from "../../evaluators/registry.ts";
import { type CallWithCaller, keepOpenForEach, requesterOf } from "../../http/call.ts";
import { operation, response } from "../../http/describe.ts";
import { reserveStored } from "../../http/memory.ts";
import { readBody, readKnownQuery, readPage, readQuery } from "../../http/request.ts";
import { logBrokenResponse, streamList, streamTexts } from "../../http/response.ts";
import { type Route, withCaller } from "../../http/route.ts";
import { InvalidRequestError, missing, refuseUnknownFields, valueError } from "../../http/validate.ts";
import { toIsoInstant } from "../../platform/storage/columns.ts";
import type { Store } from "../../platform/storage/store.ts";
import { type StoredResult, toEvaluationResult } from "../result.ts";
import { queueForReview, type ReviewQueue } from "../review.ts";
import { summarise, TooManyGroupsError } from "../summary/summarise.ts";
import { exportFormat, exportTexts, toSummaryResponse } from "./export.ts";
import type { ColumnOrder, ResultFilter, SearchFilter, TimeOrder } from "./filter.ts";
import { exportResults, resolveEvaluatorId, searchResults } from "./search-results.ts";
import { listApps, listTags } from "./values-store.ts";

export function appRoutes(services: Services): Route[] {
  return [
    withCaller("GET", "/v1/apps", "read", async (call) => {
      const query = readQuery(call, AppListQuery);
      const page = { after: query.after, ...readPage(query, defaultPageLimit) };
      const { names, next } = await listApps(services.evaluation, requesterOf(call), page);
      const response: AppListResponse = { apps: names.map((name) => ({ name })), next: next ?? null };
      return Response.json(response);
    }),
  ];
}

export const appPaths: ZodOpenApiPathsObject = {
  "/v1/apps": {
    get: operation("listApps", "evaluators", "List the apps that have results", {
      description:
        "Lists the names under `app` in the account's results. An app exists as soon as it has a result.",
      requestParams: { query: AppListQuery },
      responses: {
        "200": response("The apps, by name", AppListResponse, { apps: [{ name: "night-runs" }], next: null }),
      },
    }),
  },
};

/** The results that a request selects. Null is treated as omitted. */
async function readResultFilter(
  services: { store: Store; registry: Registry },
  call: CallWithCaller,
  fields: EvaluationResultFilter,
): Promise<ResultFilter> {
  const { name, isExternal } = readEvaluatorName(fields.evaluator_id ?? undefined);
  return {
    app: given(fields.app),
    projectId: given(fields.project_id),
    experimentId: given(fields.experiment_id),
    evaluatorId: name && !isExternal ? await resolveEvaluatorId(services, requesterOf(call), name) : name,
    isExternal,
    status: given(fields.status),
    evaluatorFamily: given(fields.evaluator_family),
    profileName: readProfileName(fields),
    profilePublicId: given(fields.evaluator_profile_public_id)?.toLowerCase(),
    profileRevision: given(fields.evaluator_profile_revision),
    datasetId: given(fields.dataset_id),
    datasetSampleId: given(fields.dataset_sample_id),
    runId: given(fields.evaluation_run_id),
    explainStrategy: given(fields.explain_strategy),
    isExplained: given(fields.explain),
    hasRun: given(fields.has_run),
    tags: given(fields.tags),
    pass: given(fields.pass),
    minScore: given(fields.score_raw_min),
    maxScore: given(fields.score_raw_max),
    createdAfter: instantOf(fields.after_datetime),
    createdBefore: instantOf(fields.before_datetime),
    afterId: idOf(fields.after_id),
    beforeId: idOf(fields.before_id),
  } satisfies { [Name in keyof Required<ResultFilter>]: ResultFilter[Name] };
}

/** The results that a search selects: successes, unless it names a status. */
export async function readSearchFilter(
  services: { store: Store; registry: Registry },
  call: CallWithCaller,
  fields: EvaluationResultFilter,
): Promise<SearchFilter> {
  const filter = await readResultFilter(services, call, fields);
  return { ...filter, status: filter.status ?? "success" };
}

function readOrder(order: "-created_at" | "created_at" | undefined): TimeOrder {
  return order === "created_at" ? "oldest-first" : "newest-first";
}

const columnOrders = {
  dataset_sample_id: "first-sample-first",
  "-dataset_sample_id": "last-sample-first",
  score_raw: "lowest-score-first",
  "-score_raw": "highest-score-first",
} as const;

function readSearchOrder(order: EvaluationResultSearchRequest["order"]): TimeOrder | ColumnOrder {
  if (order === "created_at" || order === "-created_at" || !order) return readOrder(order ?? undefined);
  return columnOrders[order];
}

/** The query of an export, in the types of a search. */
export function readExportQuery(query: EvaluationResultExportQuery) {
  const {
    tags,
    pass,
    explain,
    has_run,
    score_raw_min,
    score_raw_max,
    order,
    format,
    evaluator_profile_revision: revision,
    ...names
  } = query;
  const filter: EvaluationResultFilter = {
    ...names,
    tags: tags === undefined ? undefined : readTags(tags),
    pass: pass === undefined ? undefined : isTrueWord(pass),
    explain: explain === undefined ? undefined : isTrueWord(explain),
    has_run: has_run === undefined ? undefined : isTrueWord(has_run),
    evaluator_profile_revision: revision === undefined ? undefined : Number(revision),
    score_raw_min: score_raw_min === undefined ? undefined : Number(score_raw_min),
    score_raw_max: score_raw_max === undefined ? undefined : Number(score_raw_max),
  };
  return { filter, order: readOrder(order), format: format ?? "jsonl" };
}

function readTags(text: string): EvaluationResultFilter["tags"] {
  try {
    const parsed = EvaluationResultFilter.shape.tags.safeParse(JSON.parse(text));
    if (parsed.success && parsed.data !== null) return parsed.data;
  } catch {
    // Rejected below.
  }
  const msg = "Value error, Input should be a JSON object of strings";
  const issue: ValidationError = { type: "value_error", loc: ["query", "tags"], msg, input: text };
  throw new InvalidRequestError([issue]);
}

function given<Value>(value: Value | null | undefined): Value | undefined {
  return value ?? undefined;
}

function instantOf(text: string | null | undefined): number | undefined {
  return text ? readInstant(text) : undefined;
}

function idOf(id: unknown): number | undefined {
  return id === null || id === undefined ? undefined : readResultId(id);
}

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
