import {
  defaultPredictionLimit,
  maxCountedPredictions,
  readInstant,
  type StoredPrediction,
  StoredPredictionCountQuery,
  StoredPredictionCountResponse,
  StoredPredictionDeleteQuery,
  StoredPredictionDeleteResponse,
  StoredPredictionDetail,
  StoredPredictionListQuery,
  StoredPredictionListResponse,
  StoredPredictionPath,
  StoredPredictionValuesResponse,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { isOperator } from "../accounts/users.ts";
import type { Services } from "../app/services.ts";
import { findEpisodePromptSource, readEpisodePrompt } from "../environments/episodes/step-episode.ts";
import { keepOpen, requesterOf } from "../http/call.ts";
import { errorResponse, noSuch, operation, page, response } from "../http/describe.ts";
import { reserveStored } from "../http/memory.ts";
import { parseJson, readKeysetPage, readKnownQuery, readPath, toCursor } from "../http/request.ts";
import { jsonResponse, logBrokenResponse } from "../http/response.ts";
import { type Route, withCaller } from "../http/route.ts";
import { shownTokens } from "../platform/storage/answer-columns.ts";
import { microsPerMs, toIsoInstant } from "../platform/storage/columns.ts";
import { selectNames } from "../platform/storage/rows.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester } from "../platform/storage/store.ts";
import { defined } from "../platform/words.ts";
import { findPromptSource, readRunPrompt } from "../runs/runner/predict-step.ts";
import { deletePrediction, deletePredictionsBefore } from "./delete-predictions.ts";
import { countValues, findPayload, findPrediction } from "./stored-predictions.ts";
import {
  type Beginning,
  type CountedColumn,
  countPredictions,
  type PredictionFilter,
  type StoredPayload,
  type StoredPredictionRow,
  selectBeginnings,
  selectPredictions,
} from "./stored-predictions-store.ts";

function toStoredPrediction(
  { created_at, latency_micros, replica, ...same }: Omit<StoredPredictionRow, "characters">,
  showsReplicas: boolean,
  names: ReadonlyMap<string, string>,
): StoredPrediction {
  const { prompt_tokens, cached_tokens, completion_tokens } = same;
  const hasAnswered = same.status === "success" && same.deployment !== null;
  return {
    ...same,
    ...shownTokens({ prompt_tokens, cached_tokens, completion_tokens }, hasAnswered),
    run_name: names.get(same.run_id ?? "") ?? null,
    api_key_name: names.get(same.api_key_id ?? "") ?? null,
    created_at: toIsoInstant(created_at),
    replica: showsReplicas ? replica : null,
    latency_ms: latency_micros === null ? null : latency_micros / microsPerMs,
  };
}

/** What was asked. */
export type MadePrompt = Pick<
  StoredPredictionDetail,
  "context" | "interaction" | "messages" | "params" | "requested_model"
>;

function toStoredPredictionDetail(
  prediction: StoredPrediction,
  { request, context, ...texts }: StoredPayload,
  /** What a run or an episode asked, which is stored with its dataset or its steps. */
  made?: MadePrompt,
): StoredPredictionDetail {
  if (made !== undefined) return { ...prediction, ...made, ...texts };
  // Numbers too long for a double are sent as they were received.
  const asked = (request === null ? {} : parseJson(request)) as Partial<StoredPredictionDetail> & {
    model?: string | null;
  };
  return {
    ...prediction,
    context: context === null ? null : (parseJson(context) as StoredPredictionDetail["context"]),
    interaction: asked.interaction ?? null,
    messages: asked.messages ?? null,
    params: asked.params ?? null,
    requested_model: asked.model ?? null,
    ...texts,
  };
}

const path = "/v1/predictions";
/** Of texts that are not all Latin-1. */
const bytesPerCharacter = 2;

export function storedPredictionRoutes(services: Services): Route[] {
  const { store } = services;
  return [
    withCaller("GET", path, "read", async (call) => {
      const query = readKnownQuery(call, StoredPredictionListQuery);
      const requester = requesterOf(call);
      const page = readKeysetPage({ ...query, limit: query.limit ?? String(defaultPredictionLimit) });
      const reader = store.briefReader(requester);
      const { rows, next } = await selectPredictions(reader, requester.accountId, readFilter(query), page);
      const textLimit = Number(query.text_limit ?? 0);
      reserveStored(call.exchange, rows.length * textLimit * bytesPerCharacter);
      const beginnings = await readBeginnings(reader, rows, textLimit);
      const showsReplicas = await isOperator(store.database, call.caller);
      const named = rows.flatMap(({ run_id, api_key_id }) => [run_id, api_key_id]);
      const names = await selectNames(reader, requester.accountId, named);
      const data = rows.map((row) => ({
        ...toStoredPrediction(row, showsReplicas, names),
        ...beginnings?.(row.id),
      }));
      return Response.json({ data, next: toCursor(next) } satisfies StoredPredictionListResponse);
    }),
    withCaller("DELETE", path, "manage", async (call) => {
      const query = readKnownQuery(call, StoredPredictionDeleteQuery);
      keepOpen(call);
      const { source, before, ...filter } = query;
      const wanted = { before: readInstant(before), filter: readFilter(filter) };
      const { deleted, hasMore } = await deletePredictionsBefore(services, requesterOf(call), wanted);
      return Response.json({ deleted, has_more: hasMore } satisfies StoredPredictionDeleteResponse);
    }),
    withCaller("GET", `${path}/count`, "read", async (call) => {
      const query = readKnownQuery(call, StoredPredictionCountQuery);
      const requester = requesterOf(call);
      const most = maxCountedPredictions + 1;
      const reader = store.briefReader(requester);
      const found = await countPredictions(reader, requester.accountId, readFilter(query), most);
      const count = Math.min(found, maxCountedPredictions);
      return Response.json({ count, has_more: found > count } satisfies StoredPredictionCountResponse);
    }),
    withCaller("GET", `${path}/values`, "read", async (call) => {
      const query = readKnownQuery(call, StoredPredictionCountQuery);
      const requester = requesterOf(call);
      const reader = store.briefReader(requester);
      const counts = await countValues(reader, requester.accountId, readFilter(query));
      const values = (wanted: CountedColumn) =>
        counts.filter(({ column }) => column === wanted).map(({ value, count }) => ({ value, count }));
      const keys = values("api_key_id");
      const keyIds = keys.map(({ value }) => value);
      const names = await selectNames(reader, requester.accountId, keyIds);
      const response: StoredPredictionValuesResponse = {
        source: values("source"),
        status: values("status"),
        category: values("error_category"),
        deployment: values("deployment"),
        model: values("model"),
        api_key_id: keys.map((key) => ({ ...key, ...defined({ name: names.get(key.value) }) })),
      };
      return Response.json(response);
    }),
    withCaller("GET", `${path}/:id`, "read", async (call) => {
      const { id } = readPath(call, StoredPredictionPath);
      const requester = requesterOf(call);
      const { characters, ...prediction } = await findPrediction(services, requester, id);
      const source = await findPrompt(services, requester, prediction);
      reserveStored(call.exchange, characters + (source?.bytes ?? 0));
      const payload = await findPayload(services, requester, id);
      const prompt = await source?.read();
      const showsReplicas = await isOperator(store.database, call.caller);
      const named = [prediction.run_id, prediction.api_key_id];
      const names = await selectNames(store.database, requester.accountId, named);
      const kept = toStoredPrediction(prediction, showsReplicas, names);
      const detail = toStoredPredictionDetail(kept, payload, prompt);
      return jsonResponse(detail, undefined, logBrokenResponse(services, call));
    }),
    withCaller("DELETE", `${path}/:id`, "manage", async (call) => {
      const { id } = readPath(call, StoredPredictionPath);
      await deletePrediction(services, requesterOf(call), id);
      return new Response(null, { status: 204 });
    }),
  ];
}

/** What is listed of each prediction's texts; nothing if the limit is 0. */
async function readBeginnings(
  reader: Database,
  rows: readonly StoredPredictionRow[],
  limit: number,
): Promise<((id: string) => Beginning) | undefined> {
  if (limit === 0) return undefined;
  const ids = rows.map(({ id }) => id);
  const found = await selectBeginnings(reader, ids, limit);
  return (id) => found.get(id) ?? { output: null, error_message: null };
}

/** Where the prompt of a prediction that a run or an episode made is to be read from. */
async function findPrompt(
  { store, evaluation }: Services,
  requester: Requester,
  prediction: Pick<StoredPredictionRow, "source" | "run_id" | "position" | "repeat">,
): Promise<{ bytes: number; read(): Promise<MadePrompt | undefined> } | undefined> {
  if (prediction.source === "episode") {
    const source = await findEpisodePromptSource({ store }, requester, prediction);
    return (
      source && { bytes: source.characters, read: () => readEpisodePrompt({ store }, requester, source) }
    );
  }
  const source = await findPromptSource(evaluation, requester, prediction);
  return source && { bytes: source.size.bytes, read: () => readRunPrompt(evaluation, requester, source) };
}

function readFilter(query: StoredPredictionCountQuery): PredictionFilter {
  const { source, run_id, status, category, deployment, model, api_key_id, request_id, from, to } = query;
  return defined({
    source,
    run_id: run_id?.toLowerCase(),
    status,
    error_category: category,
    deployment,
    model,
    api_key_id: api_key_id?.toLowerCase(),
    request_id,
    from: from === undefined ? undefined : readInstant(from),
    to: to === undefined ? undefined : readInstant(to),
  });
}

const example: StoredPrediction = {
  id: "019aa5f6-7d10-7000-8c3e-0b6f5a2d9c41",
  source: "live",
  created_at: "2026-11-22T03:46:47.926Z",
  run_id: null,
  run_name: null,
  position: null,
  repeat: null,
  status: "success",
  error_category: null,
  deployment: "qwen-wm",
  model: "Qwen/Qwen3-8B-wm",
  replica: "http://10.0.0.1:30000/v1",
  finish_reason: "stop",
  prompt_tokens: 34,
  cached_tokens: 0,
  completion_tokens: 5,
  latency_ms: 412.7,
  api_key_id: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
  api_key_name: "training cluster",
  request_id: "0b9a1f4e-6f0c-4b61-9a3e-52b0d1a7c9de",
};

export const storedPredictionPaths: ZodOpenApiPathsObject = {
  "/v1/predictions": {
    get: operation("listPredictions", "kept predictions", "List kept predictions", {
      description:
        "Lists the account's predictions that were kept: of runs, and of live traffic as `PRESAGE_CAPTURE` or the key's `capture` says. They are stored about a second after their response. Without their texts, except the beginning that `text_limit` requests.",
      requestParams: { query: StoredPredictionListQuery },
      responses: {
        "200": response("The predictions, newest first", StoredPredictionListResponse, page(example)),
      },
    }),
    delete: operation("deletePredictions", "kept predictions", "Delete kept predictions of live traffic", {
      description:
        "Deletes the account's kept predictions of live traffic from before a time, with their prompts; the other parameters narrow them down. One request deletes for about 5 s; repeat it while `has_more` is true.",
      requestParams: { query: StoredPredictionDeleteQuery },
      responses: {
        "200": response("How many were deleted", StoredPredictionDeleteResponse, {
          deleted: 1200,
          has_more: false,
        }),
      },
    }),
  },
  "/v1/predictions/count": {
    get: operation("countPredictions", "kept predictions", "Count kept predictions", {
      description: "Says how many kept predictions a list or a deletion with the same filters has.",
      requestParams: { query: StoredPredictionCountQuery },
      responses: {
        "200": response("How many match", StoredPredictionCountResponse, { count: 1200, has_more: false }),
      },
    }),
  },
  "/v1/predictions/values": {
    get: operation("listPredictionValues", "kept predictions", "List the values that filters can take", {
      description: `Counts, for each filter, the values of the account's newest ${maxCountedPredictions.toLocaleString("en")} kept predictions that match all other filters.`,
      requestParams: { query: StoredPredictionCountQuery },
      responses: {
        "200": response("The values with their counts", StoredPredictionValuesResponse, {
          source: [{ value: "live", count: 1200 }],
          status: [
            { value: "success", count: 1188 },
            { value: "failed", count: 12 },
          ],
          category: [{ value: "timeout", count: 12 }],
          deployment: [{ value: "qwen-wm", count: 1200 }],
          model: [{ value: "Qwen/Qwen3-8B-wm", count: 1200 }],
          api_key_id: [
            { value: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59", name: "training cluster", count: 1200 },
          ],
        }),
      },
    }),
  },
  "/v1/predictions/{id}": {
    get: operation("getPrediction", "kept predictions", "Get a kept prediction", {
      description:
        "Shows a kept prediction with its prompt and response. A run's prompts are read from its dataset.",
      requestParams: { path: StoredPredictionPath },
      responses: {
        "200": response("The prediction", StoredPredictionDetail, {
          ...example,
          context: { environment_state: "A kitchen with a fridge. An apple is in the fridge." },
          interaction: { state: "You are in the kitchen. The fridge is closed.", action: "open fridge" },
          messages: null,
          params: { temperature: 0 },
          requested_model: null,
          output: "You open the fridge.",
          reasoning: null,
          error_message: null,
        }),
        ...noSuch("prediction"),
      },
    }),
    delete: operation("deletePrediction", "kept predictions", "Delete a kept prediction", {
      description: "Deletes one kept prediction of live traffic, with its prompt.",
      requestParams: { path: StoredPredictionPath },
      responses: {
        "204": { description: "The prediction is deleted" },
        ...noSuch("prediction"),
        "409": errorResponse(
          "The prediction belongs to a run or an episode, and goes with it",
          "This prediction belongs to a run. Delete the run.",
        ),
      },
    }),
  },
};
