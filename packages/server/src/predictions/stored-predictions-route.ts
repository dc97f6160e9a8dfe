import {
  defaultPredictionLimit,
  maxCountedPredictions,
  readInstant,
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
import { keepOpen } from "../http/call.ts";
import type { Caller } from "../http/caller.ts";
import { errorResponse, noSuch, page, response } from "../http/describe.ts";
import { reserveStored } from "../http/memory.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { costOf, type PriceList, type Prices, withoutNoise } from "../platform/prices.ts";
import { microsPerMs } from "../platform/storage/columns.ts";
import { selectNames } from "../platform/storage/rows.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Store } from "../platform/storage/store.ts";
import { defined } from "../platform/words.ts";
import examples from "./examples.json" with { type: "json" };
import { type Surroundings, selectSurroundings } from "./listed-predictions-store.ts";
import {
  countValues,
  deletePrediction,
  deletePredictionsBefore,
  existing,
  findDetail,
  type PromptServices,
  toStoredPrediction,
} from "./stored-predictions.ts";
import {
  type Beginning,
  type CountedColumn,
  countPredictions,
  type PredictionFilter,
  type StoredPredictionRow,
  selectBeginnings,
  selectPrediction,
  selectPredictions,
  selectQuantiles,
} from "./stored-predictions-store.ts";

interface StoredPredictionServices extends PromptServices {
  isOperator(caller: Caller): Promise<boolean>;
  prices: PriceList;
}

const path = "/v1/predictions";
/** For texts that are not entirely Latin-1. */
const bytesPerCharacter = 2;
/** The action, what was predicted, and what was expected. */
const textsOfOne = 3;

const listPredictions = route("GET", path, {
  needs: "read",
  id: "listPredictions",
  summary: "List stored predictions",
  description:
    "Lists the account's stored predictions: those of runs and episodes, and of live traffic as `PRESAGE_CAPTURE` or the key's `capture` says. They are stored about a second after their response. Their texts are left out, except the beginnings that `text_limit` requests.",
  query: StoredPredictionListQuery,
  responses: {
    "200": response("The predictions, newest first", StoredPredictionListResponse, {
      ...page(examples.stored),
      currency: "USD",
    }),
  },
  async handle({ store, isOperator, prices }: StoredPredictionServices, { call, requester, query }) {
    const { accountId } = requester;
    const page = readKeysetPage({ ...query, limit: query.limit ?? String(defaultPredictionLimit) });
    const reader = store.briefReader(requester);
    const { rows, next } = await selectPredictions(reader, accountId, readPredictionFilter(query), {
      ...page,
      isOldestFirst: query.order === "oldest",
    });
    const textLimit = Number(query.text_limit ?? 0);
    reserveStored(call.exchange, rows.length * textLimit * textsOfOne * bytesPerCharacter);
    const beginnings = await readBeginnings(reader, rows, textLimit);
    const around = textLimit === 0 ? undefined : await selectSurroundings(reader, rows, textLimit);
    const showsReplicas = await isOperator(call.caller);
    const named = rows.flatMap(({ id, run_id, api_key_id }) => {
      const { userId = null, keyId = null } = around?.get(id) ?? {};
      return [run_id, api_key_id, userId, keyId];
    });
    const names = await selectNames(reader, accountId, named);
    const data = rows.map((row) => ({
      ...toStoredPrediction(row, showsReplicas, names),
      ...beginnings?.(row.id),
      ...(around && describeAround(row, around.get(row.id), names, prices.current())),
    }));
    return reply(200, { data, next: toCursor(next), currency: prices.current()?.currency ?? null });
  },
});

function describeAround(
  row: StoredPredictionRow,
  { action = null, expected = null, verdicts = [], userId, keyId }: Partial<Surroundings> = {},
  names: ReadonlyMap<string, string>,
  prices: Prices | undefined,
) {
  const made_by = [row.api_key_id, keyId, userId].map((id) => names.get(id ?? "")).find(Boolean) ?? null;
  return { action, expected, verdicts, made_by, cost: costOfPrediction(prices, row) };
}

/** Null if there is no price list or no model was asked. */
function costOfPrediction(prices: Prices | undefined, row: StoredPredictionRow): number | null {
  if (prices === undefined || row.sent_model === null) return null;
  const cost = costOf(prices, row.sent_model, {
    promptTokens: row.prompt_tokens,
    upstreamCachedTokens: row.cached_tokens,
    completionTokens: row.completion_tokens,
  });
  return cost === null ? null : withoutNoise(cost);
}

/** The longest expected next state that is shown. */
const maxExpectedCharacters = 65_536;

const deleteMany = route("DELETE", path, {
  needs: "manage",
  id: "deletePredictions",
  summary: "Delete stored predictions of live traffic",
  description:
    "Deletes the account's stored predictions of live traffic from before a time, with their prompts; the other parameters narrow them down. One request deletes for about 5 s; repeat it while `has_more` is true.",
  query: StoredPredictionDeleteQuery,
  responses: {
    "200": response("How many were deleted", StoredPredictionDeleteResponse, {
      deleted: 1200,
      has_more: false,
    }),
  },
  async handle(services: { store: Store }, { call, requester, query }) {
    keepOpen(call);
    const { source, before, ...filter } = query;
    const wanted = { before: readInstant(before), filter: readPredictionFilter(filter) };
    const { deleted, hasMore } = await deletePredictionsBefore(services, requester, wanted);
    return reply(200, { deleted, has_more: hasMore });
  },
});

const count = route("GET", `${path}/count`, {
  needs: "read",
  id: "countPredictions",
  summary: "Count stored predictions",
  description: "Says how many stored predictions a list or a deletion with the same filters has.",
  query: StoredPredictionCountQuery,
  responses: {
    "200": response("How many match", StoredPredictionCountResponse, { count: 1200, has_more: false }),
  },
  async handle({ store }: { store: Store }, { requester, query }) {
    const most = maxCountedPredictions + 1;
    const reader = store.briefReader(requester);
    const found = await countPredictions(reader, requester.accountId, readPredictionFilter(query), most);
    const count = Math.min(found, maxCountedPredictions);
    return reply(200, { count, has_more: found > count });
  },
});

const listValues = route("GET", `${path}/values`, {
  needs: "read",
  id: "listPredictionValues",
  summary: "List the values that filters can take",
  description: `Counts, for each filter, the values of the account's newest ${maxCountedPredictions.toLocaleString("en")} stored predictions that match all other filters, and says how long those that match all took.`,
  query: StoredPredictionCountQuery,
  responses: {
    "200": response("The values with their counts", StoredPredictionValuesResponse, examples.facets),
  },
  async handle({ store }: { store: Store }, { requester, query }) {
    const { accountId } = requester;
    const reader = store.briefReader(requester);
    const filter = readPredictionFilter(query);
    const counts = await countValues(reader, accountId, filter);
    const latency = await selectQuantiles(reader, accountId, filter, maxCountedPredictions);
    const values = (wanted: CountedColumn) =>
      counts.filter(({ column }) => column === wanted).map(({ value, count }) => ({ value, count }));
    const keys = values("api_key_id");
    const keyIds = keys.map(({ value }) => value);
    const names = await selectNames(reader, accountId, keyIds);
    const response: StoredPredictionValuesResponse = {
      source: values("source"),
      status: values("status"),
      category: values("error_category"),
      deployment: values("deployment"),
      model: values("model"),
      api_key_id: keys.map((key) => ({ ...key, ...defined({ name: names.get(key.value) }) })),
      latency_ms:
        latency === undefined ? null : { p50: latency.p50 / microsPerMs, p95: latency.p95 / microsPerMs },
    };
    return reply(200, response);
  },
});

const getOne = route("GET", `${path}/:id`, {
  needs: "read",
  id: "getPrediction",
  summary: "Get a stored prediction",
  description:
    "Shows a stored prediction with its prompt and response. A run's prompts are read from its dataset.",
  params: StoredPredictionPath,
  responses: {
    "200": response("The prediction", StoredPredictionDetail, {
      ...examples.stored,
      ...examples.storedTexts,
    }),
    ...noSuch("prediction"),
  },
  async handle(services: StoredPredictionServices, { call, requester, params: { id } }) {
    const { accountId } = requester;
    const reader = services.store.briefReader(requester);
    const row = existing(await selectPrediction(reader, accountId, id));
    const { characters, read } = await findDetail(services, requester, row);
    reserveStored(call.exchange, characters);
    const showsReplicas = await services.isOperator(call.caller);
    const { characters: _, ...shown } = row;
    const around = (await selectSurroundings(reader, [row], maxExpectedCharacters)).get(row.id);
    const ids = [row.run_id, row.api_key_id, around?.keyId ?? null, around?.userId ?? null];
    const names = await selectNames(reader, accountId, ids);
    const { action: _action, ...said } = describeAround(shown, around, names, services.prices.current());
    return reply(200, { ...(await read(toStoredPrediction(shown, showsReplicas, names))), ...said });
  },
});

const deleteOne = route("DELETE", `${path}/:id`, {
  needs: "manage",
  id: "deletePrediction",
  summary: "Delete a stored prediction",
  description: "Deletes one stored prediction of live traffic, with its prompt.",
  params: StoredPredictionPath,
  responses: {
    "204": { description: "The prediction is deleted" },
    ...noSuch("prediction"),
    "409": errorResponse(
      "The prediction belongs to a run or an episode, and is deleted with it",
      "This prediction belongs to a run. Delete the run.",
    ),
  },
  async handle(services: { store: Store }, { requester, params }) {
    await deletePrediction(services, requester, params.id);
    return reply(204, undefined);
  },
});

export const storedPredictionRoutes = [listPredictions, deleteMany, count, listValues, getOne, deleteOne];

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

export function readPredictionFilter(query: StoredPredictionCountQuery): PredictionFilter {
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
