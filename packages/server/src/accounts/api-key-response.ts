import type { ApiKeyResponse } from "@presage/contract";
import { toIsoInstant } from "../platform/storage/micros.ts";
import { type ApiKey, readScopes } from "./api-keys-store.ts";

/** A key in a response, without its secret. */
export function toApiKeyResponse({
  created_at,
  expires_at,
  revoked_at,
  last_used_at,
  scopes,
  ...rest
}: ApiKey): ApiKeyResponse {
  const orNull = (micros: number | null) => (micros === null ? null : toIsoInstant(micros));
  return {
    ...rest,
    // A key that an earlier version of the server sealed has none.
    scopes: scopes ? readScopes(scopes) : null,
    created_at: toIsoInstant(created_at),
    expires_at: orNull(expires_at),
    revoked_at: orNull(revoked_at),
    last_used_at: orNull(last_used_at),
  };
}
