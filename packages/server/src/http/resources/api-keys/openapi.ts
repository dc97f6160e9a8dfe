import {
  ApiKeyCreateRequest,
  ApiKeyCreateResponse,
  ApiKeyListQuery,
  ApiKeyListResponse,
  ApiKeyPath,
  ErrorResponse,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import {
  body,
  idempotencyHeader,
  invalidRequest,
  operation,
  response,
  tooLarge,
  unauthorized,
  unavailable,
} from "../docs/describe.ts";

export const apiKeyPaths: ZodOpenApiPathsObject = {
  "/v1/api-keys": {
    get: operation("listApiKeys", "dashboard", "List the calling user's keys", {
      requestParams: { query: ApiKeyListQuery },
      responses: {
        "200": response("The keys, newest first", ApiKeyListResponse),
        ...unauthorized,
        ...invalidRequest,
        ...unavailable,
      },
    }),
    post: operation("createApiKey", "dashboard", "Create a key", {
      requestParams: { header: idempotencyHeader },
      requestBody: body(ApiKeyCreateRequest),
      responses: {
        "201": response("The key; it is shown only once", ApiKeyCreateResponse),
        ...unauthorized,
        "409": response(
          "The user already has 1,000 active keys, or created a key under this Idempotency-Key with another key or session",
          ErrorResponse,
        ),
        ...tooLarge,
        ...invalidRequest,
        ...unavailable,
      },
    }),
  },
  "/v1/api-keys/{key_id}": {
    delete: operation("revokeApiKey", "dashboard", "Revoke a key", {
      requestParams: { path: ApiKeyPath },
      responses: {
        "204": { description: "The key is revoked; revoking a revoked key changes nothing" },
        ...unauthorized,
        "404": response("The user has no such key", ErrorResponse),
        ...invalidRequest,
        ...unavailable,
      },
    }),
  },
};
