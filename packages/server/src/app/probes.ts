import { HealthResponse } from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { bearerOf, isSameSecret } from "../http/authenticate.ts";
import { type Call, isFromThisMachine } from "../http/call.ts";
import { errorResponse, openOperation, response } from "../http/describe.ts";
import { open, type Route } from "../http/route.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Services } from "./services.ts";

/** Metrics contain ids of API keys and show how busy the server is, so they are for its operator only. */
export function metricsRoutes({ metrics, readMetrics, settings: { metricsToken } }: Services): Route[] {
  const headers = { "content-type": metrics.registry.contentType };
  return [
    open("GET", "/metrics", async (call) => {
      if (metricsToken === undefined) refuseOtherMachines(call);
      else refuseWithoutToken(call, metricsToken);
      return new Response(await readMetrics(), { headers });
    }),
  ];
}

function refuseOtherMachines(call: Call): void {
  if (isFromThisMachine(call)) return;
  throw new ServiceError(
    "forbidden",
    "Metrics are available on the server's own machine, or with the token in PRESAGE_METRICS_TOKEN.",
  );
}

function refuseWithoutToken({ request }: Call, token: string): void {
  if (isSameSecret(bearerOf(request.headers) ?? "", token)) return;
  throw new ServiceError(
    "unauthenticated",
    "Authentication required: send the metrics token as a bearer token.",
  );
}

const text = (description: string, mediaType: string, example: string) => ({
  "200": { description, content: { [mediaType]: { schema: { type: "string" as const }, example } } },
});

const instance = (description: string) => ({
  "X-Presage-Instance": { description, schema: { type: "string" as const, format: "uuid" } },
});

export const probePaths: ZodOpenApiPathsObject = {
  "/health": {
    get: openOperation("getHealth", "Check that the process is up", {
      description: "Answers as long as the process runs, even while it starts or stops.",
      responses: { "200": response("It is up", HealthResponse, { status: "ok" }) },
    }),
  },
  "/ready": {
    get: openOperation("getReadiness", "Check that the server accepts requests", {
      description:
        "For load balancers: answers 503 while the server starts and as soon as it is told to stop.",
      responses: {
        "200": {
          ...response("It accepts requests", HealthResponse, { status: "ready" }),
          headers: instance("Identifies the process that answers; another after each start."),
        },
        "503": {
          ...response("It is starting or stopping", HealthResponse, { status: "starting" }),
          headers: instance("As in 200. Absent while the server starts."),
        },
      },
    }),
  },
  "/metrics": {
    get: openOperation("getMetrics", "Get metrics for Prometheus", {
      description:
        "Counters, gauges and histograms of the whole server: with several workers, those of all of them. Requests from the same machine need no token; others send the token in `PRESAGE_METRICS_TOKEN` as a bearer token.",
      responses: {
        ...text(
          "Prometheus text format",
          "text/plain",
          "# HELP process_resident_memory_bytes Resident memory of the process in bytes.\n# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 93323264\n",
        ),
        "401": errorResponse(
          "The metrics token is missing or wrong",
          "Authentication required: send the metrics token as a bearer token.",
        ),
        "403": errorResponse(
          "No metrics token is configured, and the request is not from the same machine",
          "Metrics are available on the server's own machine, or with the token in PRESAGE_METRICS_TOKEN.",
        ),
      },
    }),
  },
  "/openapi.json": {
    get: openOperation("getOpenApi", "Get this document", {
      description: "The whole API as an OpenAPI document, for generators of clients and other tools.",
      responses: {
        "200": {
          description: "OpenAPI 3.1",
          content: {
            "application/json": {
              schema: { type: "object" },
              example: { openapi: "3.1.1", info: { title: "Presage", version: "0.1.0" }, paths: {} },
            },
          },
        },
      },
    }),
  },
  "/docs": {
    get: openOperation("getDocs", "Get this document as web pages", {
      description:
        "Shows this document and the guides in a browser, and sends requests; in a browser that is signed in, these need no key. Each operation has a page of its own: `/docs/` and its id.",
      responses: {
        ...text("The page", "text/html", "<!doctype html>"),
        "503": {
          description: "The browser has a session, but the database is unavailable",
          content: { "text/html": { schema: { type: "string" }, example: "<!doctype html>" } },
        },
      },
    }),
  },
};

/** Carries the instance id of the server in responses of `/ready`, by which commands recognise a server on their database. */
export const instanceHeader = "x-presage-instance";

/** Neither probe queries the database or the upstream: an outage there must not get the process restarted. */
export function probeRoutes({ phase, settings }: Services): Route[] {
  const headers = { [instanceHeader]: settings.instanceId };
  return [
    open("GET", "/health", () => Response.json({ status: "ok" })),
    open("GET", "/ready", () => {
      const status = phase();
      if (status === "ready") return Response.json({ status }, { headers });
      return Response.json({ status }, { status: 503, headers: { ...headers, "retry-after": "1" } });
    }),
  ];
}
