import type { ApiKeyResponse } from "@presage/contract";
import type { ApiKey } from "../../../identity/api-keys/api-keys-store.ts";
import { toIsoInstant } from "../../../storage/micros.ts";

/** A key in a response, without its secret. */
export function toApiKeyResponse({
  created_at,
  expires_at,
  revoked_at,
  last_used_at,
  ...rest
}: ApiKey): ApiKeyResponse {
  const orNull = (micros: number | null) => (micros === null ? null : toIsoInstant(micros));
  return {
    ...rest,
    created_at: toIsoInstant(created_at),
    expires_at: orNull(expires_at),
    revoked_at: orNull(revoked_at),
    last_used_at: orNull(last_used_at),
  };
}
