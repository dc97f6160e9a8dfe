import { LatencyQuery, LatencyResponse, UsageQuery, UsageResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { operation, response } from "../http/describe.ts";

const period = {
  since: "2026-11-15T00:00:00.000Z",
  until: "2026-11-22T09:30:00.000Z",
  step: "day" as const,
};
const latency = {
  count: 412,
  total_ms: { p50: 840, p95: 1910 },
  overhead_ms: { p50: 0.4, p95: 1.2 },
};
const keyId = "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59";

export const usagePaths: ZodOpenApiPathsObject = {
  "/v1/usage": {
    get: operation("listUsage", "dashboard", "Count requests and tokens by key and time", {
      description:
        "Counts the account's requests, failures and tokens by key, operation and hour or day, accurate to about 10 s, with their cost where the server has a price list. At most 400 days by the day, 31 days by the hour.",
      requestParams: { query: UsageQuery },
      responses: {
        "200": response("The account's usage, oldest first", UsageResponse, {
          ...period,
          currency: "USD",
          data: [
            {
              start: "2026-11-22T00:00:00.000Z",
              api_key_id: keyId,
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
              id: keyId,
              name: "training cluster",
              prefix: "psg_lQSp",
              last_four: "6sTQ",
              revoked_at: null,
            },
          ],
        }),
      },
    }),
  },
  "/v1/usage/latency": {
    get: operation("getUsageLatency", "dashboard", "Show the latency of predictions", {
      description:
        "Shows quantiles of how long predictions took, in total and without the upstream's part. Predictions that did not reach the upstream are left out.",
      requestParams: { query: LatencyQuery },
      responses: {
        "200": response("Quantiles, overall and by time, oldest first", LatencyResponse, {
          ...period,
          overall: latency,
          data: [{ start: "2026-11-22T00:00:00.000Z", ...latency }],
        }),
      },
    }),
  },
};
