import {
  ApiKeyCreateRequest,
  ApiKeyCreateResponse,
  ApiKeyListQuery,
  ApiKeyListResponse,
  ApiKeyPath,
  ApiKeyResponse,
  ApiKeyUpdateRequest,
  toKeyScopes,
} from "@presage/contract";
import { credentialOf } from "../http/authenticate.ts";
import { accessChangerOf } from "../http/call.ts";
import { checkNewKey, type SessionCookie } from "../http/caller.ts";
import { errorResponse, page, response } from "../http/describe.ts";
import { readKeysetPage, toCursor } from "../http/request.ts";
import { reply, route } from "../http/route.ts";
import { InvalidRequestError, valueError } from "../http/validate.ts";
import { isoInstantOrNull, toIsoInstant } from "../platform/storage/columns.ts";
import type { Store } from "../platform/storage/store.ts";
import { defined, similarName } from "../platform/words.ts";
import { changeKeySettings, createApiKey, ExpiryError, parseExpiry, revokeApiKey } from "./api-keys.ts";
import { type ApiKey, readScopes, selectApiKeys } from "./api-keys-store.ts";
import type { AccessServices, KeyChangeServices } from "./change-access.ts";
import examples from "./examples.json" with { type: "json" };
import type { KeyDigest } from "./verify-api-key.ts";

const listApiKeys = route("GET", "/v1/api-keys", {
  needs: "own-access",
  id: "listApiKeys",
  summary: "List keys",
  description:
    "Lists the calling user's keys (for an owner, the keys of all users of the account) without their secrets, including revoked and expired ones.",
  query: ApiKeyListQuery,
  allowsUnknown: true,
  responses: { "200": response("The keys, newest first", ApiKeyListResponse, page(examples.apiKey)) },
  async handle({ store }: { store: Store }, { call, requester, query }) {
    const { userId, accountId, role } = call.caller;
    const of = role === "owner" ? { accountId } : { userId };
    const { rows, next } = await selectApiKeys(store.briefReader(requester), of, readKeysetPage(query));
    return reply(200, { data: rows.map(toApiKeyResponse), next: toCursor(next) });
  },
});

const createKey = route("POST", "/v1/api-keys", {
  needs: "own-access",
  id: "createApiKey",
  summary: "Create a key",
  description:
    "Creates a key that acts as the calling user. Only this response contains the full key, so keep it. A user can have 1,000 active keys. A key can have scopes, which restrict it further than its user's current role does. A key with scopes can only create keys with a subset of them. Limits of a key guard against a runaway program: any key of the user that may manage keys can change them, and those of the user and the account hold beside them. A name that looks like a misspelt restriction is refused; other unknown ones have no effect, and up to 20 are listed, percent-encoded, in the header `x-presage-ignored`.",
  body: ApiKeyCreateRequest,
  bodyExample: examples.newApiKey,
  once: "create API key",
  responses: {
    "201": response("The key; it is shown only once", ApiKeyCreateResponse, {
      ...examples.apiKey,
      key: "psg_lQSp…6sTQ",
    }),
    "409": errorResponse(
      "The user already has 1,000 active keys, or created a key under this Idempotency-Key with another key or session",
      "A user can have 1000 active API keys. Revoke one that is no longer needed, and try again.",
    ),
  },
  async handle(
    services: AccessServices & { keyDigest: KeyDigest; sessionCookie: SessionCookie },
    { call, body, once },
  ) {
    const headers = ignoredNames(body);
    const expiresAt = readExpiry(body.expires_at);
    const scopes = body.scopes ? toKeyScopes(body.scopes) : null;
    checkNewKey(call.caller, { scopes, expiresAt });
    const { userId } = call.caller;
    const newKey = { userId, name: body.name, expiresAt, scopes, settings: settingsOf(body) };
    const credential = credentialOf(call.request.headers, services.sessionCookie);
    const changer = { ...accessChangerOf(call), credential };
    const { key, ...apiKey } = await createApiKey(services, changer, newKey, once);
    return reply(201, { ...toApiKeyResponse(apiKey), key }, headers);
  },
});

const noSuchKey = errorResponse(
  "There is no such key, or it is another user's and the caller is no owner",
  "There is no such API key.",
);

const updateApiKey = route("PATCH", "/v1/api-keys/:key_id", {
  needs: "own-access",
  id: "updateApiKey",
  summary: "Change the settings of a key",
  description:
    "Changes the limits of one of the calling user's keys (for an owner, of any key of the account), and which of its predictions are stored. Absent fields stay unchanged, and null restores the server's setting. Changes apply immediately in the process that responds, and within 5 s in others.",
  params: ApiKeyPath,
  body: ApiKeyUpdateRequest,
  bodyExample: { rate_limit_rpm: 600, max_in_flight: null, capture: "0.01" },
  responses: {
    "200": response("The key", ApiKeyResponse, { ...examples.apiKey, max_in_flight: null, capture: "0.01" }),
    "404": noSuchKey,
  },
  async handle(services: KeyChangeServices, { call, params, body }) {
    const keyId = params.key_id.toLowerCase();
    const changed = await changeKeySettings(services, accessChangerOf(call), keyId, settingsOf(body));
    return reply(200, toApiKeyResponse(changed));
  },
});

const revokeKey = route("DELETE", "/v1/api-keys/:key_id", {
  needs: "own-access",
  id: "revokeApiKey",
  summary: "Revoke a key",
  description:
    "Permanently revokes one of the calling user's keys (for an owner, any key of the account). Requests with it are refused from then on.",
  params: ApiKeyPath,
  responses: {
    "204": { description: "The key is revoked; revoking a revoked key changes nothing" },
    "404": noSuchKey,
  },
  async handle(services: KeyChangeServices, { call, params }) {
    await revokeApiKey(services, accessChangerOf(call), params.key_id.toLowerCase());
    return reply(204, undefined);
  },
});

export const apiKeyRoutes = [listApiKeys, createKey, updateApiKey, revokeKey];

/** A key in a response, without its secret. */
export function toApiKeyResponse({
  created_at,
  expires_at,
  revoked_at,
  last_used_at,
  scopes,
  ...rest
}: ApiKey): ApiKeyResponse {
  return {
    ...rest,
    // A key that was sealed by an earlier version of the server has no scopes.
    scopes: scopes ? readScopes(scopes) : null,
    created_at: toIsoInstant(created_at),
    expires_at: isoInstantOrNull(expires_at),
    revoked_at: isoInstantOrNull(revoked_at),
    last_used_at: isoInstantOrNull(last_used_at),
  };
}

/** What other services call the fields that restrict a key, and the hint for each name. */
const hints = new Map([
  ["permissions", "did you mean scopes?"],
  ["role", "did you mean scopes?"],
  ["expires", "did you mean expires_at?"],
  ["expiry", "did you mean expires_at?"],
  ["expiration", "did you mean expires_at?"],
  ["ttl", "did you mean expires_at?"],
  ["rate_limit", "did you mean rate_limit_rpm?"],
  ["user_id", "a key acts as the user who creates it"],
  ["account_id", "a key acts as the user who creates it"],
]);

/** Without `name`: a request with it misspelt is refused anyway, and many words are close to it. */
const restricting = Object.keys(ApiKeyCreateRequest.shape).filter((field) => field !== "name");
/** At three, `notes` would be close to `scopes`. */
const maxEdits = 2;
/** Covers a plural or a missing `_`. At two, `note` would be close to `role`. */
const maxEditsOfHints = 1;
const maxNames = 20;
const maxCharacters = 100;

/**
 * A header with up to 20 names in a new key's body that have no effect; no header if there are none. Refuses names that look like a
 * restriction: ignoring one would create a key that can do more than was intended.
 */
function ignoredNames(body: object): Record<string, string> {
  const unknown = Object.keys(body).filter((name) => !Object.hasOwn(ApiKeyCreateRequest.shape, name));
  const issues = unknown.flatMap((name) => {
    const hint = hintFor(name);
    return hint === undefined ? [] : [valueError(["body", name], hint, Reflect.get(body, name))];
  });
  if (issues.length > 0) throw new InvalidRequestError(issues);
  const named = unknown.slice(0, maxNames).map((name) => name.slice(0, maxCharacters).toWellFormed());
  return named.length === 0 ? {} : { "x-presage-ignored": named.map(encodeURIComponent).join(", ") };
}

function hintFor(name: string): string | undefined {
  const similar = similarName(name, restricting, maxEdits);
  const hinted = similarName(name, [...hints.keys()], maxEditsOfHints);
  return hints.get(hinted ?? "") ?? (similar && `did you mean ${similar}?`);
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
