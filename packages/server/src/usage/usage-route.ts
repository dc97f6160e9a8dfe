import { LatencyQuery, LatencyResponse, readInstant, UsageQuery, UsageResponse } from "@presage/contract";
import { response } from "../http/describe.ts";
import { reserveResponse } from "../http/memory.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import type { PriceList } from "../platform/prices.ts";
import { shownTokens } from "../platform/storage/answer-columns.ts";
import { type Micros, microsPerDay, nowMicros, toIsoInstant } from "../platform/storage/columns.ts";
import type { Store } from "../platform/storage/store.ts";
import {
  type LatencyFigures,
  type LatencyReport,
  readLatency,
  readUsage,
  type UsageReport,
} from "./read-usage.ts";
import type { UsagePeriod } from "./usage-store.ts";

const examplePeriod = {
  since: "2026-11-15T00:00:00.000Z",
  until: "2026-11-22T09:30:00.000Z",
  step: "day" as const,
};
const exampleLatency = {
  count: 412,
  total_ms: { p50: 840, p95: 1910 },
  overhead_ms: { p50: 0.4, p95: 1.2 },
};
const exampleKeyId = "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59";

/** Approximate size of a row in a response. */
const bytesPerRow = 240;
const tooManyRows = "Too many rows; use a shorter period, step=day or one key";

const listUsage = route({
  method: "GET",
  path: "/v1/usage",
  needs: "read",
  id: "listUsage",
  tag: "dashboard",
  summary: "Count requests and tokens by key and time",
  description:
    "Counts the account's requests, failures and tokens by key, operation and hour or day, accurate to about 10 s, with their cost where the server has a price list. At most 400 days by the day, 31 days by the hour.",
  query: UsageQuery,
  refusesUnknown: true,
  responses: {
    "200": response("The account's usage, oldest first", UsageResponse, {
      ...examplePeriod,
      currency: "USD",
      data: [
        {
          start: "2026-11-22T00:00:00.000Z",
          api_key_id: exampleKeyId,
          operation: "predict",
          requests: 412,
          failures: { rate_limit: 3, timeout: 1 },
          prompt_tokens: 185_400,
          completion_tokens: 20_600,
          cached_tokens: 61_000,
          cost: 0.04017,
          unpriced_tokens: 0,
        },
      ],
      api_keys: [
        {
          id: exampleKeyId,
          name: "training cluster",
          prefix: "psg_lQSp",
          last_four: "6sTQ",
          revoked_at: null,
        },
      ],
    }),
  },
  async handle({ store, prices }: { store: Store; prices: PriceList }, { call, requester, query }) {
    const period = readUsagePeriod(query);
    const list = prices.current();
    const keyId = query.api_key_id?.toLowerCase();
    const report = await readUsage(store, requester, period, keyId, list);
    if (report === undefined) refusePeriod(query, tooManyRows);
    reserveResponse(call.exchange, report.steps.length * bytesPerRow);
    return reply(200, toUsageResponse(period, report, list?.currency));
  },
});

const getUsageLatency = route({
  method: "GET",
  path: "/v1/usage/latency",
  needs: "read",
  id: "getUsageLatency",
  tag: "dashboard",
  summary: "Show the latency of predictions",
  description:
    "Shows quantiles of how long predictions took, in total and without the upstream's part. Predictions that did not reach the upstream are left out.",
  query: LatencyQuery,
  refusesUnknown: true,
  responses: {
    "200": response("Quantiles, overall and by time, oldest first", LatencyResponse, {
      ...examplePeriod,
      overall: exampleLatency,
      data: [{ start: "2026-11-22T00:00:00.000Z", ...exampleLatency }],
    }),
  },
  async handle({ store }: { store: Store }, { requester, query }) {
    const period = readUsagePeriod(query);
    return reply(200, toLatencyResponse(period, await readLatency(store, requester, period)));
  },
});

export const usageRoutes = [listUsage, getUsageLatency];

export const microsPerHour = 3_600_000_000;
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
function refusePeriod(query: LatencyQuery, message: string, field: "since" | "until" = "since"): never {
  throw new InvalidRequestError([valueError(["query", field], message, query[field])]);
}

function toUsageResponse(
  period: RequestedPeriod,
  { steps, keys }: UsageReport,
  currency: string | undefined,
): UsageResponse {
  return {
    ...toPeriod(period),
    currency: currency ?? null,
    data: steps.map(
      ({
        startHour,
        keyId,
        operation,
        requests,
        failures,
        promptTokens,
        completionTokens,
        cachedTokens,
        cost,
        unpricedTokens,
      }) => ({
        start: toIsoHour(startHour),
        api_key_id: keyId ?? null,
        operation,
        requests,
        failures,
        ...shownTokens(
          { prompt_tokens: promptTokens, completion_tokens: completionTokens, cached_tokens: cachedTokens },
          operation !== "evaluate" &&
            requests > Object.values(failures).reduce((sum, count) => sum + count, 0),
        ),
        cost,
        unpriced_tokens: unpricedTokens,
      }),
    ),
    api_keys: keys.map(({ revoked_at, ...key }) => ({
      ...key,
      revoked_at: revoked_at === null ? null : toIsoInstant(revoked_at),
    })),
  };
}

function toLatencyResponse(period: RequestedPeriod, { overall, steps }: LatencyReport): LatencyResponse {
  return {
    ...toPeriod(period),
    overall: toLatency(overall),
    data: steps.map(({ startHour, ...figures }) => ({ start: toIsoHour(startHour), ...toLatency(figures) })),
  };
}

function toPeriod({ fromHour, until, step }: RequestedPeriod) {
  return { since: toIsoHour(fromHour), until: toIsoInstant(until), step };
}

function toLatency({ count, totalMs, overheadMs }: LatencyFigures) {
  return { count, total_ms: totalMs ?? null, overhead_ms: overheadMs ?? null };
}

function toIsoHour(hour: number): string {
  return toIsoInstant(hour * microsPerHour);
}
