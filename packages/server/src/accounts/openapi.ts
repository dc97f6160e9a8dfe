import {
  ApiKeyCreateRequest,
  ApiKeyCreateResponse,
  ApiKeyListQuery,
  ApiKeyListResponse,
  ApiKeyPath,
  ApiKeyResponse,
  ApiKeyUpdateRequest,
} from "@presage/contract";
import type { ZodOpenApiPathsObject } from "zod-openapi";
import { body, errorResponse, idempotencyHeader, operation, page, response } from "../http/describe.ts";

const exampleKey: ApiKeyResponse = {
  id: "01a2015d-17f6-75b4-a7a7-ccd9f62a3a59",
  user_id: "01a2015d-17ca-76a5-aa4f-c26a65d9cd6e",
  name: "training cluster",
  prefix: "psg_lQSp",
  last_four: "6sTQ",
  created_at: "2026-11-22T03:46:47.926Z",
  expires_at: "2035-01-01T00:00:00.000Z",
  revoked_at: null,
  last_used_at: null,
  rate_limit_rpm: 600,
  max_in_flight: 64,
  capture: null,
  scopes: ["predict", "read"],
};

const noSuchKey = errorResponse(
  "There is no such key, or it is another user's and the caller is no owner",
  "There is no such API key.",
);

export const apiKeyPaths: ZodOpenApiPathsObject = {
  "/v1/api-keys": {
    get: operation("listApiKeys", "dashboard", "List keys", {
      description:
        "Lists the calling user's keys, for an owner those of all users of the account, without their secrets, revoked and expired ones included.",
      requestParams: { query: ApiKeyListQuery },
      responses: {
        "200": response("The keys, newest first", ApiKeyListResponse, page(exampleKey)),
      },
    }),
    post: operation("createApiKey", "dashboard", "Create a key", {
      description:
        "Creates a key that acts as the calling user. The response is the only one with the full key, so keep it. A user can have 1,000 active keys. A key can have scopes, which restrict it further than its user's current role does. A key with scopes can only create keys with a subset of them. Limits of a key guard against a runaway program: any key of the user that may manage keys can change them, and those of the user and the account hold beside them. A name that looks like a misspelt restriction is refused; other unknown ones have no effect, and up to 20 are listed, percent-encoded, in the header `x-presage-ignored`.",
      requestParams: { header: idempotencyHeader },
      requestBody: body(ApiKeyCreateRequest, {
        name: exampleKey.name,
        expires_at: "2035-01-01T00:00:00Z",
        rate_limit_rpm: 600,
        max_in_flight: 64,
        scopes: ["predict", "read"],
      }),
      responses: {
        "201": response("The key; it is shown only once", ApiKeyCreateResponse, {
          ...exampleKey,
          key: "psg_lQSp…6sTQ",
        }),
        "409": errorResponse(
          "The user already has 1,000 active keys, or created a key under this Idempotency-Key with another key or session",
          "A user can have 1000 active API keys. Revoke one that is no longer needed, and try again.",
        ),
      },
    }),
  },
  "/v1/api-keys/{key_id}": {
    patch: operation("updateApiKey", "dashboard", "Change the settings of a key", {
      description:
        "Changes the limits of one of the calling user's keys, for an owner of any of the account, and which of its predictions are kept; what is absent stays, null restores the server's. Changes apply at once in the process that responds, and within 5 s in others.",
      requestParams: { path: ApiKeyPath },
      requestBody: body(ApiKeyUpdateRequest, { rate_limit_rpm: 600, max_in_flight: null, capture: "0.01" }),
      responses: {
        "200": response("The key", ApiKeyResponse, {
          ...exampleKey,
          max_in_flight: null,
          capture: "0.01",
        }),
        "404": noSuchKey,
      },
    }),
    delete: operation("revokeApiKey", "dashboard", "Revoke a key", {
      description:
        "Revokes one of the calling user's keys, for an owner any of the account, permanently. Requests with it are refused from now on.",
      requestParams: { path: ApiKeyPath },
      responses: {
        "204": { description: "The key is revoked; revoking a revoked key changes nothing" },
        "404": noSuchKey,
      },
    }),
  },
};
