import {
  ApiKeyCreateRequest,
  type ApiKeyListResponse,
  ApiKeyPath,
  type ApiKeyResponse,
} from "@presage/contract";
import { Hono } from "hono";
import type { ApiKey } from "../../identity/api-keys/api-keys-store.ts";
import type { NewApiKey } from "../../identity/api-keys/create-api-key.ts";
import { toIsoInstant } from "../../storage/columns.ts";
import type { HttpEnv } from "../exchange.ts";
import { readJsonBody } from "../read-json-body.ts";
import { ValidationFailure, validate } from "../validation.ts";

export interface ApiKeysArea {
  createApiKey(newKey: NewApiKey): Promise<ApiKey & { key: string }>;
  listApiKeys(userId: string): Promise<ApiKey[]>;
  revokeApiKey(userId: string, keyId: string): Promise<void>;
}

export function apiKeyRoutes({ createApiKey, listApiKeys, revokeApiKey }: ApiKeysArea, maxBodyBytes: number) {
  return new Hono<HttpEnv>()
    .get("/v1/api-keys", async (c) => {
      const apiKeys = await listApiKeys(c.get("caller").userId);
      return Response.json({ data: apiKeys.map(toResponse) } satisfies ApiKeyListResponse);
    })
    .post("/v1/api-keys", async (c) => {
      const { name, expires_at } = validate(
        ApiKeyCreateRequest,
        await readJsonBody(c.req.raw, maxBodyBytes),
        "body",
      );
      const expiresAt = readExpiry(expires_at);
      const { key, ...apiKey } = await createApiKey({ userId: c.get("caller").userId, name, expiresAt });
      return Response.json({ ...toResponse(apiKey), key }, { status: 201 });
    })
    .delete("/v1/api-keys/:key_id", async (c) => {
      const { key_id } = validate(ApiKeyPath, c.req.param(), "path");
      await revokeApiKey(c.get("caller").userId, key_id.toLowerCase());
      return new Response(null, { status: 204 });
    });
}

/** A date-time without an offset is read as UTC. */
function readExpiry(text: string | null | undefined): Date | null {
  if (text === null || text === undefined) return null;
  const hasOffset = /(Z|[+-]\d{2}:?\d{2})$/.test(text);
  const expiresAt = new Date(hasOffset ? text : `${text}Z`);
  if (expiresAt.getTime() > Date.now()) return expiresAt;
  const loc = ["body", "expires_at"];
  throw new ValidationFailure([
    { type: "datetime_future", loc, msg: "Input should be in the future", input: text },
  ]);
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
