import {
  defaultPredictionLimit,
  KeptPredictionCountQuery,
  type KeptPredictionCountResponse,
  KeptPredictionDeleteQuery,
  type KeptPredictionDeleteResponse,
  KeptPredictionListQuery,
  type KeptPredictionListResponse,
  KeptPredictionPath,
  type KeptPredictionValuesResponse,
  maxCountedPredictions,
  readInstant,
} from "@presage/contract";
import { isOperator } from "../accounts/is-operator.ts";
import type { Services } from "../app/services.ts";
import { findEpisodePromptSource, readEpisodePrompt } from "../environments/episodes/find-episode-prompt.ts";
import { jsonResponse } from "../http/json-response.ts";
import { keepOpen } from "../http/keep-open.ts";
import { readKeysetPage, toCursor } from "../http/list-cursor.ts";
import { logBrokenResponse } from "../http/log-broken-response.ts";
import { readKnownQuery, readPath } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { reserveStored } from "../http/reserve-memory.ts";
import { type Route, withCaller } from "../http/route.ts";
import { defined } from "../platform/defined.ts";
import { selectNames } from "../platform/storage/names-store.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { findPromptSource, readRunPrompt } from "../runs/runner/find-run-prompt.ts";
import { countValues } from "./count-values.ts";
import { deletePrediction, deletePredictionsBefore } from "./delete-predictions.ts";
import { findPayload, findPrediction } from "./find-prediction.ts";
import { type MadePrompt, toKeptPrediction, toKeptPredictionDetail } from "./kept-prediction-response.ts";
import {
  type Beginning,
  countPredictions,
  type StoredPrediction,
  selectBeginnings,
  selectPredictions,
} from "./kept-predictions-store.ts";
import type { PredictionFilter } from "./matching-predictions-store.ts";
import type { CountedColumn } from "./prediction-values-store.ts";

const path = "/v1/predictions";
/** Of texts that are not all Latin-1. */
const bytesPerCharacter = 2;

export function keptPredictionRoutes(services: Services): Route[] {
  const { store } = services;
  return [
    withCaller("GET", path, "read", async (call) => {
      const query = readKnownQuery(call, KeptPredictionListQuery);
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
        ...toKeptPrediction(row, showsReplicas, names),
        ...beginnings?.(row.id),
      }));
      return Response.json({ data, next: toCursor(next) } satisfies KeptPredictionListResponse);
    }),
    withCaller("DELETE", path, "manage", async (call) => {
      const query = readKnownQuery(call, KeptPredictionDeleteQuery);
      keepOpen(call);
      const { source, before, ...filter } = query;
      const wanted = { before: readInstant(before), filter: readFilter(filter) };
      const { deleted, hasMore } = await deletePredictionsBefore(services, requesterOf(call), wanted);
      return Response.json({ deleted, has_more: hasMore } satisfies KeptPredictionDeleteResponse);
    }),
    withCaller("GET", `${path}/count`, "read", async (call) => {
      const query = readKnownQuery(call, KeptPredictionCountQuery);
      const requester = requesterOf(call);
      const most = maxCountedPredictions + 1;
      const reader = store.briefReader(requester);
      const found = await countPredictions(reader, requester.accountId, readFilter(query), most);
      const count = Math.min(found, maxCountedPredictions);
      return Response.json({ count, has_more: found > count } satisfies KeptPredictionCountResponse);
    }),
    withCaller("GET", `${path}/values`, "read", async (call) => {
      const query = readKnownQuery(call, KeptPredictionCountQuery);
      const requester = requesterOf(call);
      const reader = store.briefReader(requester);
      const counts = await countValues(reader, requester.accountId, readFilter(query));
      const values = (wanted: CountedColumn) =>
        counts.filter(({ column }) => column === wanted).map(({ value, count }) => ({ value, count }));
      const keys = values("api_key_id");
      const keyIds = keys.map(({ value }) => value);
      const names = await selectNames(reader, requester.accountId, keyIds);
      const response: KeptPredictionValuesResponse = {
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
      const { id } = readPath(call, KeptPredictionPath);
      const requester = requesterOf(call);
      const { characters, ...prediction } = await findPrediction(services, requester, id);
      const source = await findPrompt(services, requester, prediction);
      reserveStored(call.exchange, characters + (source?.bytes ?? 0));
      const payload = await findPayload(services, requester, id);
      const prompt = await source?.read();
      const showsReplicas = await isOperator(store.database, call.caller);
      const named = [prediction.run_id, prediction.api_key_id];
      const names = await selectNames(store.database, requester.accountId, named);
      const kept = toKeptPrediction(prediction, showsReplicas, names);
      const detail = toKeptPredictionDetail(kept, payload, prompt);
      return jsonResponse(detail, undefined, logBrokenResponse(services, call));
    }),
    withCaller("DELETE", `${path}/:id`, "manage", async (call) => {
      const { id } = readPath(call, KeptPredictionPath);
      await deletePrediction(services, requesterOf(call), id);
      return new Response(null, { status: 204 });
    }),
  ];
}

/** What is listed of each prediction's texts; nothing if the limit is 0. */
async function readBeginnings(
  reader: Database,
  rows: readonly StoredPrediction[],
  limit: number,
): Promise<((id: string) => Beginning) | undefined> {
  if (limit === 0) return undefined;
  const ids = rows.map(({ id }) => id);
  const found = await selectBeginnings(reader, ids, limit);
  return (id) => found.get(id) ?? { output: null, error_message: null };
}

/** Where the prompt of a prediction that a run or an episode made is to be read from. */
async function findPrompt(
  { environments, evaluation }: Services,
  requester: Requester,
  prediction: Pick<StoredPrediction, "source" | "run_id" | "position" | "repeat">,
): Promise<{ bytes: number; read(): Promise<MadePrompt | undefined> } | undefined> {
  if (prediction.source === "episode") {
    const source = await findEpisodePromptSource(environments, requester, prediction);
    return (
      source && { bytes: source.characters, read: () => readEpisodePrompt(environments, requester, source) }
    );
  }
  const source = await findPromptSource(evaluation, requester, prediction);
  return source && { bytes: source.size.bytes, read: () => readRunPrompt(evaluation, requester, source) };
}

function readFilter(query: KeptPredictionCountQuery): PredictionFilter {
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
