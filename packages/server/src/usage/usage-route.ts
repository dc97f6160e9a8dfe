import { LatencyQuery, LatencyResponse, UsageQuery, UsageResponse } from "@presage/contract";
import { response } from "../http/describe.ts";
import { reserveResponse } from "../http/memory.ts";
import { reply, route } from "../http/route.ts";
import type { PriceList } from "../platform/prices.ts";
import type { Store } from "../platform/storage/store.ts";
import { readLatency, readUsage } from "./read-usage.ts";
import { readUsagePeriod, refusePeriod, toCoveredPeriod } from "./usage-period.ts";

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
    reserveResponse(call.exchange, report.data.length * bytesPerRow);
    return reply(200, { ...toCoveredPeriod(period), currency: list?.currency ?? null, ...report });
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
    return reply(200, { ...toCoveredPeriod(period), ...(await readLatency(store, requester, period)) });
  },
});

export const usageRoutes = [listUsage, getUsageLatency];
