import {
  ApiKeyCreateRequest,
  ApiKeyCreateResponse,
  ApiKeyListQuery,
  ApiKeyListResponse,
  ApiKeyPath,
  ErrorResponse,
  MeResponse,
  SessionListQuery,
  SessionListResponse,
  SessionPath,
  SignOutResponse,
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

export const dashboardPaths: ZodOpenApiPathsObject = {
  "/v1/me": {
    get: operation("getMe", "dashboard", "Show the calling user", {
      responses: {
        "200": response("The user", MeResponse),
        ...unauthorized,
        "404": response("The calling user no longer exists", ErrorResponse),
        ...unavailable,
      },
    }),
  },
  "/v1/sessions": {
    get: operation("listSessions", "dashboard", "List the browsers in which the calling user is signed in", {
      requestParams: { query: SessionListQuery },
      responses: {
        "200": response("The sessions, newest first", SessionListResponse),
        ...unauthorized,
        ...invalidRequest,
        ...unavailable,
      },
    }),
  },
  "/v1/sessions/{session_id}": {
    delete: operation("endSession", "dashboard", "Sign a browser out", {
      requestParams: { path: SessionPath },
      responses: {
        "204": { description: "The session has ended; ending an ended session changes nothing" },
        ...unauthorized,
        "404": response("The user has no such session", ErrorResponse),
        ...invalidRequest,
        ...unavailable,
      },
    }),
  },
  "/auth/sign-out": {
    post: operation("signOut", "dashboard", "End the calling session", {
      responses: {
        "200": response("The session has ended", SignOutResponse),
        ...unauthorized,
        ...unavailable,
      },
    }),
  },
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
