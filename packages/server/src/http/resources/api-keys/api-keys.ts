import {
  ApiKeyCreateRequest,
  ApiKeyListQuery,
  type ApiKeyListResponse,
  ApiKeyPath,
  type ApiKeyResponse,
} from "@presage/contract";
import type { ApiKey } from "../../../identity/api-keys/api-keys-store.ts";
import type { NewApiKey } from "../../../identity/api-keys/create-api-key.ts";
import { ExpiryError, parseExpiry } from "../../../identity/api-keys/parse-expiry.ts";
import type { NewlyMadeKey } from "../../../identity/api-keys/seal-new-key.ts";
import type { Caller } from "../../../identity/caller.ts";
import type { Once } from "../../../storage/idempotency/once.ts";
import type { KeysetPage, ListPart } from "../../../storage/keyset.ts";
import { toIsoInstant } from "../../../storage/micros.ts";
import type { Asker } from "../../../storage/reader.ts";
import { credentialOf } from "../../pipeline/authenticate.ts";
import { type Route, withCaller } from "../../pipeline/route.ts";
import type { SessionCookie } from "../../pipeline/session-cookie.ts";
import { askerOf } from "../../request/asker-of.ts";
import { readKeysetPage, toCursor } from "../../request/list-cursor.ts";
import { readOnce } from "../../request/read-idempotency-key.ts";
import { readBody, readPath, readQuery } from "../../request/read-request.ts";
import { ValidationFailure } from "../../request/validation.ts";

export interface ApiKeysArea {
  createApiKey(
    caller: Caller,
    signal: AbortSignal,
    credential: string,
    newKey: NewApiKey,
    once: Once | undefined,
  ): Promise<NewlyMadeKey>;
  listApiKeys(asker: Asker, userId: string, page: KeysetPage): Promise<ListPart<ApiKey>>;
  revokeApiKey(caller: Caller, signal: AbortSignal, keyId: string): Promise<void>;
}

export function apiKeyRoutes(
  { createApiKey, listApiKeys, revokeApiKey }: ApiKeysArea,
  cookie: Pick<SessionCookie, "read">,
  maxBodyBytes: number,
): Route[] {
  return [
    withCaller("GET", "/v1/api-keys", async (call) => {
      const page = readKeysetPage(readQuery(call, ApiKeyListQuery));
      const { rows, next } = await listApiKeys(askerOf(call), call.caller.userId, page);
      const answer: ApiKeyListResponse = { data: rows.map(toResponse), next: toCursor(next) };
      return Response.json(answer);
    }),
    withCaller("POST", "/v1/api-keys", async (call) => {
      const { caller, request } = call;
      const body = await readBody(call, ApiKeyCreateRequest, maxBodyBytes);
      const newKey = { userId: caller.userId, name: body.name, expiresAt: readExpiry(body.expires_at) };
      const once = readOnce(call, "create API key", body);
      const credential = credentialOf(request.headers, cookie);
      const { key, ...apiKey } = await createApiKey(caller, request.signal, credential, newKey, once);
      return Response.json({ ...toResponse(apiKey), key }, { status: 201 });
    }),
    withCaller("DELETE", "/v1/api-keys/:key_id", async (call) => {
      const { key_id } = readPath(call, ApiKeyPath);
      await revokeApiKey(call.caller, call.request.signal, key_id.toLowerCase());
      return new Response(null, { status: 204 });
    }),
  ];
}

function readExpiry(text: string | null | undefined): Date | null {
  if (text === null || text === undefined) return null;
  try {
    return parseExpiry(text);
  } catch (error) {
    if (!(error instanceof ExpiryError)) throw error;
    const fault = error.isPast
      ? { type: "datetime_future", msg: "Input should be in the future" }
      : { type: "datetime_parsing", msg: "Input should be a valid datetime", ctx: { error: error.message } };
    throw new ValidationFailure([{ ...fault, loc: ["body", "expires_at"], input: text }]);
  }
}

function toResponse({ created_at, expires_at, revoked_at, last_used_at, ...rest }: ApiKey): ApiKeyResponse {
  const orNull = (micros: number | null) => (micros === null ? null : toIsoInstant(micros));
  return {
    ...rest,
    created_at: toIsoInstant(created_at),
    expires_at: orNull(expires_at),
    revoked_at: orNull(revoked_at),
    last_used_at: orNull(last_used_at),
  };
}
