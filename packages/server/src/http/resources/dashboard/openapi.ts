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
  answer,
  body,
  notValid,
  onceHeader,
  operation,
  storeUnavailable,
  tooLarge,
  unauthenticated,
} from "../docs/describe.ts";

export const dashboardPaths: ZodOpenApiPathsObject = {
  "/v1/me": {
    get: operation("getMe", "dashboard", "Show the calling user", {
      responses: {
        "200": answer("The user", MeResponse),
        ...unauthenticated,
        "404": answer("The calling user does not exist any more", ErrorResponse),
        ...storeUnavailable,
      },
    }),
  },
  "/v1/sessions": {
    get: operation("listSessions", "dashboard", "List the browsers in which the calling user is signed in", {
      requestParams: { query: SessionListQuery },
      responses: {
        "200": answer("The sessions, newest first", SessionListResponse),
        ...unauthenticated,
        ...notValid,
        ...storeUnavailable,
      },
    }),
  },
  "/v1/sessions/{session_id}": {
    delete: operation("endSession", "dashboard", "Sign a browser out", {
      requestParams: { path: SessionPath },
      responses: {
        "204": { description: "The session is over; one that already was stays as it is" },
        ...unauthenticated,
        "404": answer("The user has no such session", ErrorResponse),
        ...notValid,
        ...storeUnavailable,
      },
    }),
  },
  "/auth/sign-out": {
    post: operation("signOut", "dashboard", "End the session that asks", {
      responses: {
        "200": answer("The session is over", SignOutResponse),
        ...unauthenticated,
        ...storeUnavailable,
      },
    }),
  },
  "/v1/api-keys": {
    get: operation("listApiKeys", "dashboard", "List the calling user's keys", {
      requestParams: { query: ApiKeyListQuery },
      responses: {
        "200": answer("The keys, newest first", ApiKeyListResponse),
        ...unauthenticated,
        ...notValid,
        ...storeUnavailable,
      },
    }),
    post: operation("createApiKey", "dashboard", "Create a key", {
      requestParams: { header: onceHeader },
      requestBody: body(ApiKeyCreateRequest),
      responses: {
        "201": answer("The key, shown this once", ApiKeyCreateResponse),
        ...unauthenticated,
        "409": answer(
          "The user has 1,000 active keys; or another of the user's keys or sessions made a key under this Idempotency-Key",
          ErrorResponse,
        ),
        ...tooLarge,
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
};
