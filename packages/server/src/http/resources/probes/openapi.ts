import { ErrorResponse, HealthResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { openOperation, response } from "../docs/describe.ts";

const text = (description: string, mediaType: string) => ({
  "200": { description, content: { [mediaType]: { schema: { type: "string" as const } } } },
});

export const probePaths: ZodOpenApiPathsObject = {
  "/health": {
    get: openOperation("getHealth", "probes", "Check that the process is up", {
      responses: { "200": response("It is up", HealthResponse) },
    }),
  },
  "/ready": {
    get: openOperation("getReadiness", "probes", "Check that the server accepts requests", {
      responses: {
        "200": response("It accepts requests", HealthResponse),
        "503": response("It is starting or stopping", HealthResponse),
      },
    }),
  },
  "/metrics": {
    get: openOperation("getMetrics", "probes", "Get metrics for Prometheus", {
      responses: {
        ...text("Prometheus text format", "text/plain"),
        "401": response("The metrics token is missing or wrong", ErrorResponse),
        "403": response(
          "No metrics token is configured, and the request is not from the same machine",
          ErrorResponse,
        ),
      },
    }),
  },
  "/openapi.json": {
    get: openOperation("getOpenApi", "probes", "Get this document", {
      responses: { "200": { description: "OpenAPI 3.1", content: { "application/json": {} } } },
    }),
  },
  "/docs": {
    get: openOperation("getDocs", "probes", "Get this document as a web page", {
      responses: text("The page", "text/html"),
    }),
  },
};
