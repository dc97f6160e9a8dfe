import { LatencyQuery, LatencyResponse, UsageQuery, UsageResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { failures, operation, response } from "../docs/describe.ts";

export const usagePaths: ZodOpenApiPathsObject = {
  "/v1/usage": {
    get: operation("listUsage", "dashboard", "Count requests and tokens by key and time", {
      requestParams: { query: UsageQuery },
      responses: {
        "200": response("The account's usage, oldest first", UsageResponse),
        ...failures,
      },
    }),
  },
  "/v1/usage/latency": {
    get: operation("getUsageLatency", "dashboard", "Show the latency of predictions", {
      requestParams: { query: LatencyQuery },
      responses: {
        "200": response("Quantiles, overall and by time, oldest first", LatencyResponse),
        ...failures,
      },
    }),
  },
};
