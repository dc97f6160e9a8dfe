import {
  ApiKeyCreateRequest,
  ApiKeyCreateResponse,
  ApiKeyListResponse,
  ApiKeyPath,
  ChatCompletionRequest,
  ChatCompletionResponse,
  ErrorResponse,
  HealthResponse,
  HTTPValidationError,
  MeResponse,
  ModelListResponse,
  WorldModelPrediction,
  WorldModelRequest,
  WorldModelResponse,
} from "@presage/contract";
import type { z } from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiResponsesObject } from "zod-openapi";

/** Version of the interface, which is not the program's. */
const interfaceVersion = "0.1.0";

const json = (schema: z.ZodType) => ({ "application/json": { schema } });
const answer = (description: string, schema: z.ZodType) => ({ description, content: json(schema) });
const body = (schema: z.ZodType) => ({ required: true, content: json(schema) });

const unauthenticated = { "401": answer("The key is missing, unknown, expired or revoked", ErrorResponse) };
const storeUnavailable = { "503": answer("The store cannot be reached", ErrorResponse) };
const notValid = { "422": answer("The request is not valid; every fault is listed", HTTPValidationError) };

const predictionFailures: ZodOpenApiResponsesObject = {
  ...unauthenticated,
  ...notValid,
  "413": answer(
    "The input exceeds the model's context length (context_exceeded), or the body is too large",
    ErrorResponse,
  ),
  "429": answer("The upstream's rate limit or the key's own (rate_limit)", ErrorResponse),
  "502": answer("The upstream failed in another way (upstream)", ErrorResponse),
  "503": answer("The upstream or Presage is temporarily unavailable (unavailable)", ErrorResponse),
  "504": answer("The upstream timed out (timeout)", ErrorResponse),
};

const operation = (
  operationId: string,
  tag: string,
  summary: string,
  rest: Omit<ZodOpenApiOperationObject, "operationId" | "tags" | "summary">,
): ZodOpenApiOperationObject => ({ operationId, tags: [tag], summary, ...rest });

const openOperation: typeof operation = (operationId, tag, summary, rest) => ({
  ...operation(operationId, tag, summary, rest),
  security: [],
});

const text = (description: string, mediaType: string) => ({
  "200": { description, content: { [mediaType]: { schema: { type: "string" as const } } } },
});

/** The interface as OpenAPI 3.1, from the very schemas that validate. */
export function openApiDocument() {
  return createDocument({
    openapi: "3.1.1",
    info: {
      title: "Presage",
      version: interfaceVersion,
      description:
        "Predicts the next state of an environment from a state and an action, by a language model.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: [
      { name: "prediction", description: "Ask the world model." },
      { name: "dashboard", description: "The calling user and their API keys." },
      { name: "probes", description: "For load balancers, monitors and people." },
    ],
    paths: {
      "/v1/predict": {
        post: operation("predict", "prediction", "Predict the next state", {
          requestBody: body(WorldModelRequest),
          responses: {
            "200": answer(
              "The prediction; with `messages` where the deployment enables debug fields",
              WorldModelPrediction.or(WorldModelResponse),
            ),
            ...predictionFailures,
          },
        }),
      },
      "/v1/chat/completions": {
        post: operation(
          "completeChat",
          "prediction",
          "Complete a chat, from an interaction or from messages",
          {
            requestBody: body(ChatCompletionRequest),
            responses: {
              "200": answer("The upstream's completion, byte for byte", ChatCompletionResponse),
              "400": answer("The request is not supported, for example `stream: true`", ErrorResponse),
              ...predictionFailures,
            },
          },
        ),
      },
      "/v1/models": {
        get: operation("listModels", "prediction", "List the upstream's models", {
          responses: {
            "200": answer("The upstream's list as it came", ModelListResponse),
            ...unauthenticated,
            "502": answer("The upstream failed", ErrorResponse),
            "503": answer("The upstream is temporarily unavailable", ErrorResponse),
            "504": answer("The upstream timed out", ErrorResponse),
          },
        }),
      },
      "/v1/me": {
        get: operation("getMe", "dashboard", "Show the calling user", {
          responses: { "200": answer("The user", MeResponse), ...unauthenticated, ...storeUnavailable },
        }),
      },
      "/v1/api-keys": {
        get: operation("listApiKeys", "dashboard", "List the calling user's keys", {
          responses: {
            "200": answer("The keys, newest first", ApiKeyListResponse),
            ...unauthenticated,
            ...storeUnavailable,
          },
        }),
        post: operation("createApiKey", "dashboard", "Create a key", {
          requestBody: body(ApiKeyCreateRequest),
          responses: {
            "201": answer("The key, shown this once", ApiKeyCreateResponse),
            ...unauthenticated,
            ...notValid,
            ...storeUnavailable,
          },
        }),
      },
      "/v1/api-keys/{key_id}": {
        delete: operation("revokeApiKey", "dashboard", "Revoke a key", {
          requestParams: { path: ApiKeyPath },
          responses: {
            "204": { description: "The key is revoked; one that already was stays as it is" },
            ...unauthenticated,
            "404": answer("The user has no such key", ErrorResponse),
            ...notValid,
            ...storeUnavailable,
          },
        }),
      },
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
          responses: text("Prometheus' text format", "text/plain"),
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
    },
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "X-API-KEY" },
        bearer: { type: "http", scheme: "bearer" },
      },
    },
  });
}
