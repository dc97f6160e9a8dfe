import { LatencyQuery, LatencyResponse, UsageQuery, UsageResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { answer, notValid, operation, storeUnavailable, unauthenticated } from "../docs/describe.ts";

const failures = { ...unauthenticated, ...notValid, ...storeUnavailable };

export const usagePaths: ZodOpenApiPathsObject = {
  "/v1/usage": {
    get: operation("listUsage", "dashboard", "Count requests and tokens by key and time", {
      requestParams: { query: UsageQuery },
      responses: {
        "200": answer("What the account asked for, oldest first", UsageResponse),
        ...failures,
      },
    }),
  },
  "/v1/usage/latency": {
    get: operation("getUsageLatency", "dashboard", "Tell how long predictions took", {
      requestParams: { query: LatencyQuery },
      responses: {
        "200": answer("Quantiles, overall and by time, oldest first", LatencyResponse),
        ...failures,
      },
    }),
  },
};
