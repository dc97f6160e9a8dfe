import { ErrorResponse, HealthResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { answer, openOperation } from "../docs/describe.ts";

const text = (description: string, mediaType: string) => ({
  "200": { description, content: { [mediaType]: { schema: { type: "string" as const } } } },
});

export const probePaths: ZodOpenApiPathsObject = {
  "/health": {
    get: openOperation("getHealth", "probes", "Whether the process is up", {
      responses: { "200": answer("It is", HealthResponse) },
    }),
  },
  "/ready": {
    get: openOperation("getReadiness", "probes", "Whether the server takes requests", {
      responses: {
        "200": answer("It does", HealthResponse),
        "503": answer("It is starting or stopping", HealthResponse),
      },
    }),
  },
  "/metrics": {
    get: openOperation("getMetrics", "probes", "Metrics for Prometheus", {
      responses: {
        ...text("Prometheus' text format", "text/plain"),
        "401": answer("The server has a token for its metrics, and this is not it", ErrorResponse),
        "403": answer("The server has no token for its metrics, and this is not its machine", ErrorResponse),
      },
    }),
  },
  "/openapi.json": {
    get: openOperation("getOpenApi", "probes", "This document", {
      responses: { "200": { description: "OpenAPI 3.1", content: { "application/json": {} } } },
    }),
  },
  "/docs": {
    get: openOperation("getDocs", "probes", "This document as a page", {
      responses: text("The page", "text/html"),
    }),
  },
};
