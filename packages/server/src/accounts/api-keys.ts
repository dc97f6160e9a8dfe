import {
  ApiKeyCreateRequest,
  ApiKeyListQuery,
  type ApiKeyListResponse,
  ApiKeyPath,
  ApiKeyUpdateRequest,
  toKeyScopes,
} from "@presage/contract";
import type { Services } from "../app/services.ts";
import { checkNewScopes } from "../http/access.ts";
import { credentialOf } from "../http/authenticate.ts";
import { readKeysetPage, toCursor } from "../http/list-cursor.ts";
import { readBody, readOnce, readPath, readQuery } from "../http/read-request.ts";
import { accessChangerOf, requesterOf } from "../http/requester-of.ts";
import { type Route, withCaller } from "../http/route.ts";
import { InvalidRequestError } from "../http/validate.ts";
import { defined } from "../platform/defined.ts";
import { toApiKeyResponse } from "./api-key-response.ts";
import { selectApiKeys } from "./api-keys-store.ts";
import { changeKeySettings } from "./change-key-settings.ts";
import { createApiKey } from "./create-api-key.ts";
import { ignoredNames } from "./ignored-names.ts";
import { ExpiryError, parseExpiry } from "./parse-expiry.ts";
import { revokeApiKey } from "./revoke-api-key.ts";

export function apiKeyRoutes(services: Services): Route[] {
  const { store, sessionCookie } = services;
  const { maxShortBodyBytes } = services.settings;
  return [
    withCaller("GET", "/v1/api-keys", "own-access", async (call) => {
      const page = readKeysetPage(readQuery(call, ApiKeyListQuery));
      const { userId, accountId, role } = call.caller;
      const of = role === "owner" ? { accountId } : { userId };
      const { rows, next } = await selectApiKeys(store.briefReader(requesterOf(call)), of, page);
      const response: ApiKeyListResponse = { data: rows.map(toApiKeyResponse), next: toCursor(next) };
      return Response.json(response);
    }),
    withCaller("POST", "/v1/api-keys", "own-access", async (call) => {
      const { caller, request } = call;
      const body = await readBody(call, ApiKeyCreateRequest, maxShortBodyBytes);
      const headers = ignoredNames(body);
      const expiresAt = readExpiry(body.expires_at);
      const scopes = body.scopes ? toKeyScopes(body.scopes) : null;
      checkNewScopes(caller, scopes);
      const newKey = {
        userId: caller.userId,
        name: body.name,
        expiresAt,
        scopes,
        settings: settingsOf(body),
      };
      const once = readOnce(call, "create API key", body);
      const credential = credentialOf(request.headers, sessionCookie);
      const changer = { ...accessChangerOf(call), credential };
      const { key, ...apiKey } = await createApiKey(services.identity, changer, newKey, once);
      return Response.json({ ...toApiKeyResponse(apiKey), key }, { status: 201, headers });
    }),
    withCaller("PATCH", "/v1/api-keys/:key_id", "own-access", async (call) => {
      const { key_id } = readPath(call, ApiKeyPath);
      const body = await readBody(call, ApiKeyUpdateRequest, maxShortBodyBytes);
      const settings = settingsOf(body);
      const apiKey = await changeKeySettings(
        services.identity,
        accessChangerOf(call),
        key_id.toLowerCase(),
        settings,
      );
      return Response.json(toApiKeyResponse(apiKey));
    }),
    withCaller("DELETE", "/v1/api-keys/:key_id", "own-access", async (call) => {
      const { key_id } = readPath(call, ApiKeyPath);
      await revokeApiKey(services.identity, accessChangerOf(call), key_id.toLowerCase());
      return new Response(null, { status: 204 });
    }),
  ];
}

function settingsOf({ rate_limit_rpm, max_in_flight, capture }: ApiKeyUpdateRequest) {
  return defined({ rate_limit_rpm, max_in_flight, capture });
}

function readExpiry(text: string | null | undefined): Date | null {
  if (text === null || text === undefined) return null;
  try {
    return parseExpiry(text);
  } catch (error) {
    if (!(error instanceof ExpiryError)) throw error;
    const issue = error.isPast
      ? { type: "datetime_future", msg: "Input should be in the future" }
      : { type: "datetime_parsing", msg: "Input should be a valid datetime", ctx: { error: error.message } };
    throw new InvalidRequestError([{ ...issue, loc: ["body", "expires_at"], input: text }]);
  }
}
