import {
  LatencyQuery,
  LatencyResponse,
  readInstant,
  UsageQuery,
  UsageResponse,
  type UsageRow,
} from "@presage/contract";
import { response } from "../http/describe.ts";
import { reserveResponse } from "../http/memory.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { costOf, type PriceList, type Prices, withoutNoise } from "../platform/prices.ts";
import { shownTokens } from "../platform/storage/answer-columns.ts";
import {
  isoInstantOrNull,
  type Micros,
  microsPerDay,
  microsPerHour,
  nowMicros,
  toIsoInstant,
} from "../platform/storage/columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { addToBucket, type LatencyCounts, noLatencies, toLatency } from "./collect-usage.ts";
import examples from "./examples.json" with { type: "json" };
import {
  type CountsOfStep,
  type Holder,
  type ModelTokens,
  selectCounts,
  selectHolders,
  selectLatencies,
  selectModelTokens,
  toAskedTokens,
  type UsageFilter,
  type UsagePeriod,
} from "./usage-store.ts";

/** Latencies of an account's predictions. Steps without any are left out. */
async function readLatency(
  store: Store,
  requester: Requester,
  period: UsagePeriod,
): Promise<Pick<LatencyResponse, "overall" | "data">> {
  const rows = await selectLatencies(store.reader(requester), requester.accountId, period);
  const overall = noLatencies();
  const steps = new Map<number, LatencyCounts>();
  for (const { start_hour, measure, bucket, count } of rows) {
    const step = steps.get(start_hour) ?? noLatencies();
    steps.set(start_hour, step);
    for (const latencies of [overall, step]) addToBucket(latencies[measure], bucket, count);
  }
  const data = Array.from(steps, ([startHour, step]) => ({
    start: toIsoHour(startHour),
    ...toLatency(step),
  }));
  return { overall: toLatency(overall), data };
}

/** This many rows make a response of about 10 MB and block other requests for a tenth of a second. */
export const maxRows = 100_000;

/** An account's usage, or one key's; undefined if there are too many rows for one response. */
async function readUsage(
  reader: Database,
  filter: UsageFilter,
  prices: Prices | undefined,
): Promise<Pick<UsageResponse, "data" | "api_keys"> | undefined> {
  const counts = await selectCounts(reader, filter, maxRows + 1);
  if (counts.length > maxRows) return undefined;
  const byModel =
    prices === undefined
      ? []
      : await selectModelTokens(reader, { ...filter, models: [...prices.models.keys()] }, maxRows + 1);
  if (byModel.length > maxRows) return undefined;
  const tokensOf = Map.groupBy(byModel, stepOf);
  const data: UsageRow[] = [];
  for (const [step, rows] of Map.groupBy(counts, stepOf)) {
    const [first] = rows;
    if (first !== undefined) data.push(toUsageRow(first, rows, tokensOf.get(step) ?? [], prices));
  }
  const ids = [...new Set(counts.map(({ key_id }) => key_id))];
  const holders = await selectHolders(reader, filter.accountId, ids);
  return {
    data: data.map((row) => withUser(row, holders)),
    api_keys: [...holders].flatMap(([id, { key }]) =>
      key === undefined ? [] : [{ id, ...key, revoked_at: isoInstantOrNull(key.revoked_at) }],
    ),
  };
}

/** Requests of sessions are counted under their user. */
function withUser(row: UsageRow, holders: ReadonlyMap<string, Holder>): UsageRow {
  const holder = holders.get(row.api_key_id ?? "");
  const isKey = row.api_key_id !== null && (holder === undefined || holder.key !== undefined);
  return { ...row, api_key_id: isKey ? row.api_key_id : null, user_id: holder?.userId ?? null };
}

/** Identifies a row of the response: its step, key and operation. */
export function stepOf({ start_hour, key_id, operation }: CountsOfStep | ModelTokens): string {
  return `${start_hour} ${key_id} ${operation}`;
}

/** The outcomes of one step's requests with one key, or with sessions, as one row. */
function toUsageRow(
  { start_hour, key_id, operation }: CountsOfStep,
  rows: readonly CountsOfStep[],
  byModel: readonly ModelTokens[],
  prices: Prices | undefined,
): UsageRow {
  const sum = (column: keyof CountsOfStep & ("requests" | `${string}_tokens`)) =>
    rows.reduce((total, row) => total + row[column], 0);
  const tokens = {
    prompt_tokens: sum("prompt_tokens"),
    completion_tokens: sum("completion_tokens"),
    cached_tokens: sum("cached_tokens"),
  };
  const failures = rows.flatMap(({ outcome, requests }) => (outcome === "" ? [] : [[outcome, requests]]));
  const isAnswered = operation !== "evaluate" && rows.some(({ outcome }) => outcome === "");
  return {
    start: toIsoHour(start_hour),
    api_key_id: key_id === "" ? null : key_id,
    operation,
    requests: sum("requests"),
    failures: Object.fromEntries(failures),
    ...shownTokens(tokens, isAnswered),
    example_tokens: sum("example_tokens"),
    ...costOfTokens(tokens.prompt_tokens + tokens.completion_tokens, byModel, prices),
  };
}

/** The cost of the tokens whose model has a price, in the currency of the price list. */
function costOfTokens(
  asked: number,
  byModel: readonly ModelTokens[],
  prices: Prices | undefined,
): Pick<UsageRow, "cost" | "unpriced_tokens"> {
  if (prices === undefined) return { cost: null, unpriced_tokens: 0 };
  let pricedTokens = 0;
  let cost = 0;
  for (const row of byModel) {
    pricedTokens += row.prompt_tokens + row.completion_tokens;
    cost += costOf(prices, row.model, toAskedTokens(row)) ?? 0;
  }
  return {
    cost: pricedTokens > 0 || asked === 0 ? withoutNoise(cost) : null,
    // Tokens by model are read after the counts, so they may be a little ahead.
    unpriced_tokens: Math.max(0, asked - pricedTokens),
  };
}

/** Approximate size of a row in a response. */
const bytesPerRow = 240;
export const tooManyRows = "Too many rows; use a shorter period, step=day or one key";

const listUsage = route("GET", "/v1/usage", {
  needs: "read",
  id: "listUsage",
  summary: "Count requests and tokens by key and time",
  description:
    "Counts the account's requests, failures and tokens by key, operation and hour or day, accurate to about 10 s, with their cost where the server has a price list. At most 400 days by the day, 31 days by the hour.",
  query: UsageQuery,
  responses: {
    "200": response("The account's usage, oldest first", UsageResponse, examples.usage),
  },
  async handle({ store, prices }: { store: Store; prices: PriceList }, { call, requester, query }) {
    const period = readUsagePeriod(query);
    const list = prices.current();
    const keyId = query.api_key_id?.toLowerCase();
    const report = await readUsage(
      store.reader(requester),
      { accountId: requester.accountId, period, keyId },
      list,
    );
    if (report === undefined) refusePeriod(query, tooManyRows);
    reserveResponse(call.exchange, report.data.length * bytesPerRow);
    return reply(200, { ...toCoveredPeriod(period), currency: list?.currency ?? null, ...report });
  },
});

const getUsageLatency = route("GET", "/v1/usage/latency", {
  needs: "read",
  id: "getUsageLatency",
  summary: "Show the latency of predictions",
  description:
    "Shows quantiles of how long predictions took, in total and without the upstream's part. Predictions that did not reach the upstream are left out.",
  query: LatencyQuery,
  responses: {
    "200": response("Quantiles, overall and by time, oldest first", LatencyResponse, examples.latency),
  },
  async handle({ store }: { store: Store }, { requester, query }) {
    const period = readUsagePeriod(query);
    return reply(200, { ...toCoveredPeriod(period), ...(await readLatency(store, requester, period)) });
  },
});

export const usageRoutes = [listUsage, getUsageLatency];

const defaultDays = 7;
/** The years that ISO 8601 writes with four digits, which every client can read. That far away, doubles are tens of microseconds apart. */
const [earliest, latest] = ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"].map(readInstant) as [
  Micros,
  Micros,
];
const outOfRange = "A period lies within the years 0000 to 9999";
const steps = {
  hour: { hours: 1, mostDays: 31, limit: "A period by the hour has at most 31 days" },
  day: { hours: 24, mostDays: 400, limit: "A period has at most 400 days" },
} as const;

/** The requested period, and the hours to query. */
export interface RequestedPeriod extends UsagePeriod {
  step: "hour" | "day";
  until: Micros;
}

/** Reads the period of a query; throws if it is invalid. */
export function readUsagePeriod(query: LatencyQuery): RequestedPeriod {
  const step = query.step ?? "day";
  const { hours, mostDays, limit } = steps[step];
  const until = query.until === undefined ? nowMicros() : readInstant(query.until);
  const since = query.since === undefined ? until - defaultDays * microsPerDay : readInstant(query.since);
  if (until < earliest || until > latest) refusePeriod(query, outOfRange, "until");
  if (since < earliest) refusePeriod(query, outOfRange, query.since === undefined ? "until" : "since");
  if (since > until) refusePeriod(query, "since must not be after until");
  if (until - since > mostDays * microsPerDay) refusePeriod(query, limit);
  return {
    step,
    until,
    fromHour: Math.floor(since / (hours * microsPerHour)) * hours,
    untilHour: Math.ceil(until / microsPerHour),
    hoursPerStep: hours,
  };
}

/** Refuses a period, by default because of its start. */
export function refusePeriod(
  query: LatencyQuery,
  message: string,
  field: "since" | "until" = "since",
): never {
  throw new InvalidRequestError([valueError(["query", field], message, query[field])]);
}

/** The period that a response covers. */
export function toCoveredPeriod({ fromHour, until, step }: RequestedPeriod) {
  return { since: toIsoHour(fromHour), until: toIsoInstant(until), step };
}

export function toIsoHour(hour: number): string {
  return toIsoInstant(hour * microsPerHour);
}
