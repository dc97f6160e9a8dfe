import {
  SpendingQuery,
  SpendingResponse,
  type Spent,
  type SpentByPerson,
  type SpentOnModel,
  type SpentWithKey,
  type UsageOperation,
} from "@presage/contract";
import { response } from "../http/describe.ts";
import { reserveResponse } from "../http/memory.ts";
import { reply, route } from "../http/route.ts";
import { costOf, type PriceList, type Prices, withoutNoise } from "../platform/prices.ts";
import { microsPerHour, nowMicros } from "../platform/storage/columns.ts";
import type { Store } from "../platform/storage/store.ts";
import examples from "./examples.json" with { type: "json" };
import {
  maxRows,
  type RequestedPeriod,
  readUsagePeriod,
  refusePeriod,
  stepOf,
  toCoveredPeriod,
  toIsoHour,
  tooManyRows,
} from "./usage-route.ts";
import {
  type CountsOfStep,
  type Holder,
  type ModelTokens,
  selectCounts,
  selectHolders,
  selectModelTokens,
  toAskedTokens,
} from "./usage-store.ts";

/** Tokens of one step, holder, operation and model. */
interface Entry {
  startHour: number;
  holderId: string;
  operation: UsageOperation;
  model: string | null;
  promptTokens: number;
  completionTokens: number;
  cost: number | null;
}

/** One entry for each model, and one for the tokens that are counted without a model. */
function toEntries(
  counts: readonly CountsOfStep[],
  byModel: readonly ModelTokens[],
  prices: Prices | undefined,
): Entry[] {
  const entries = byModel.map((row): Entry => {
    const tokens = toAskedTokens(row);
    const { start_hour: startHour, key_id: holderId, operation, model } = row;
    const cost = prices === undefined ? null : costOf(prices, model, tokens);
    return { startHour, holderId, operation, model, cost, ...tokens };
  });
  const known = Map.groupBy(byModel, stepOf);
  for (const [step, rows] of Map.groupBy(counts, stepOf)) {
    const [first] = rows;
    const ofModels = known.get(step) ?? [];
    const rest = (column: "prompt_tokens" | "completion_tokens") =>
      Math.max(0, sum(rows, (row) => row[column]) - sum(ofModels, (row) => row[column]));
    const [promptTokens, completionTokens] = [rest("prompt_tokens"), rest("completion_tokens")];
    if (first === undefined || promptTokens + completionTokens === 0) continue;
    const { start_hour: startHour, key_id: holderId, operation } = first;
    entries.push({ startHour, holderId, operation, model: null, cost: null, promptTokens, completionTokens });
  }
  return entries;
}

function sum<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

const tokensIn = (entries: readonly Entry[]) =>
  sum(entries, ({ promptTokens, completionTokens }) => promptTokens + completionTokens);

function toSpent(entries: readonly Entry[], prices: Prices | undefined): Spent {
  const priced = entries.filter(({ cost }) => cost !== null);
  const isKnown = prices !== undefined && (priced.length > 0 || entries.length === 0);
  return {
    prompt_tokens: sum(entries, ({ promptTokens }) => promptTokens),
    completion_tokens: sum(entries, ({ completionTokens }) => completionTokens),
    cost: isKnown ? withoutNoise(sum(priced, ({ cost }) => cost ?? 0)) : null,
    unpriced_tokens: prices === undefined ? 0 : tokensIn(entries) - tokensIn(priced),
  };
}

function toRequests(
  counts: readonly CountsOfStep[],
): Pick<SpentWithKey, "requests" | "failed" | "example_tokens"> {
  return {
    requests: sum(counts, ({ requests }) => requests),
    failed: sum(counts, ({ requests, outcome }) => (outcome === "" ? 0 : requests)),
    example_tokens: sum(counts, ({ example_tokens: tokens }) => tokens),
  };
}

/** The most expensive first, then the most tokens. */
function byCost(a: Spent, b: Spent): number {
  const tokens = (of: Spent) => of.prompt_tokens + of.completion_tokens;
  return (b.cost ?? -1) - (a.cost ?? -1) || tokens(b) - tokens(a);
}

interface Used {
  counts: readonly CountsOfStep[];
  entries: readonly Entry[];
  holders: ReadonlyMap<string, Holder>;
  prices: Prices | undefined;
}

function toKey(
  holderId: string,
  { counts, entries }: { counts: readonly CountsOfStep[]; entries: readonly Entry[] },
  { holders, prices }: Pick<Used, "holders" | "prices">,
): SpentWithKey {
  const models = [...Map.groupBy(entries, ({ model, operation }) => `${operation} ${model}`).values()].map(
    (some): SpentOnModel => ({
      model: some[0]?.model ?? null,
      operation: some[0]?.operation ?? "predict",
      ...toSpent(some, prices),
    }),
  );
  const holder = holders.get(holderId);
  const isSession = holderId === "" || (holder !== undefined && holder.key === undefined);
  return {
    api_key_id: isSession ? null : holderId,
    name: holder?.key?.name ?? null,
    ...toRequests(counts),
    ...toSpent(entries, prices),
    models: models.sort(byCost),
  };
}

function toPeople(used: Used): SpentByPerson[] {
  const { holders, prices } = used;
  const counts = Map.groupBy(used.counts, ({ key_id }) => key_id);
  const entries = Map.groupBy(used.entries, ({ holderId }) => holderId);
  const ofHolder = (id: string) => ({ counts: counts.get(id) ?? [], entries: entries.get(id) ?? [] });
  const people = Map.groupBy(
    new Set([...counts.keys(), ...entries.keys()]),
    (id) => holders.get(id)?.userId ?? null,
  );
  return [...people]
    .map(([user_id, holderIds]) => ({
      user_id,
      name: holders.get(holderIds[0] ?? "")?.userName ?? null,
      ...toRequests(holderIds.flatMap((id) => ofHolder(id).counts)),
      ...toSpent(
        holderIds.flatMap((id) => ofHolder(id).entries),
        prices,
      ),
      keys: holderIds.map((id) => toKey(id, ofHolder(id), used)).sort(byCost),
    }))
    .sort((a, b) => byCost(a, b) || b.requests - a.requests);
}

function toSteps({ entries, holders, prices }: Used): SpendingResponse["data"] {
  const personOf = ({ holderId }: Entry) => holders.get(holderId)?.userId ?? null;
  const parts = Map.groupBy(entries, (entry) => `${entry.startHour} ${personOf(entry)} ${entry.model}`);
  return [...parts.values()]
    .flatMap((some) => {
      const [first] = some;
      if (first === undefined) return [];
      const { cost } = toSpent(some, prices);
      const step = { user_id: personOf(first), model: first.model, tokens: tokensIn(some), cost };
      return [{ startHour: first.startHour, step }];
    })
    .sort((a, b) => a.startHour - b.startHour)
    .map(({ startHour, step }) => ({ start: toIsoHour(startHour), ...step }));
}

const maxUnpriced = 20;

function toUnpriced({ entries, prices }: Used): SpendingResponse["unpriced_models"] {
  if (prices === undefined) return [];
  const unpriced = entries.filter(({ cost, model }) => cost === null && model !== null);
  return [...Map.groupBy(unpriced, ({ model }) => model ?? "")]
    .map(([model, some]) => ({ model, tokens: tokensIn(some) }))
    .sort((a, b) => b.tokens - a.tokens)
    .slice(0, maxUnpriced);
}

const hoursPerDay = 24;

function toSpending(period: RequestedPeriod, used: Used): Omit<SpendingResponse, "currency"> {
  const { counts, entries, prices } = used;
  const dayStart = Math.floor(nowMicros() / microsPerHour / hoursPerDay) * hoursPerDay;
  return {
    ...toCoveredPeriod(period),
    total: { ...toRequests(counts), ...toSpent(entries, prices) },
    today: toSpent(
      entries.filter(({ startHour }) => startHour >= dayStart),
      prices,
    ),
    unpriced_models: toUnpriced(used),
    people: toPeople(used),
    data: toSteps(used),
  };
}

/** Approximate size of an entry in a response. */
const bytesPerEntry = 260;

const listSpending = route("GET", "/v1/usage/people", {
  needs: "read",
  id: "listSpending",
  summary: "Show who spent what",
  description:
    "Shows what the people of the account spent, with which keys and on which models, accurate to about 10 s. Calls of runs and of judges count for whoever started them. Without a price list there are tokens but no costs.",
  query: SpendingQuery,
  responses: {
    "200": response("Spending by person, key and model, and by time", SpendingResponse, examples.spending),
  },
  async handle({ store, prices: list }: { store: Store; prices: PriceList }, { call, requester, query }) {
    const period = readUsagePeriod(query);
    const prices = list.current();
    const reader = store.reader(requester);
    const { accountId } = requester;
    const counts = await selectCounts(reader, { accountId, period }, maxRows + 1);
    const byModel = await selectModelTokens(reader, { accountId, period }, maxRows + 1);
    if (Math.max(counts.length, byModel.length) > maxRows) refusePeriod(query, tooManyRows);
    const entries = toEntries(counts, byModel, prices);
    const ids = new Set([...counts, ...byModel].map(({ key_id }) => key_id));
    const holders = await selectHolders(reader, accountId, [...ids]);
    reserveResponse(call.exchange, entries.length * bytesPerEntry);
    const spending = toSpending(period, { counts, entries, holders, prices });
    return reply(200, { ...spending, currency: prices?.currency ?? null });
  },
});

export const peopleRoutes = [listSpending];
