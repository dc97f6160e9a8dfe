import { ServiceError } from "../../errors.ts";
import { nowMicros, toMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { type ApiKey, countActiveKeys, insertApiKey } from "./api-keys-store.ts";
import type { KeyDigest } from "./key-digest.ts";
import { generateKey, visibleParts } from "./key-format.ts";

export interface NewApiKey {
  userId: string;
  name: string;
  expiresAt: Date | null;
}

/** Far more than anybody needs: what a caller gets for each key, such as a rate of its own, must have an end. */
const maxActiveKeys = 1_000;

/**
 * Makes a key for a user, who has a bounded number of them; the bound is exact where the transaction holds the user. The key
 * itself is in the answer and nowhere else.
 */
export async function createApiKey(
  transaction: Database,
  digestOf: KeyDigest,
  { userId, name, expiresAt }: NewApiKey,
): Promise<ApiKey & { key: string }> {
  if ((await countActiveKeys(transaction, userId, nowMicros(), maxActiveKeys)) >= maxActiveKeys) {
    throw new ServiceError(
      "conflict",
      `A user can have ${maxActiveKeys} active API keys. Revoke one that is no longer needed, and try again.`,
    );
  }
  const key = generateKey();
  const { prefix, lastFour } = visibleParts(key);
  const apiKey: ApiKey = {
    id: Bun.randomUUIDv7(),
    name,
    prefix,
    last_four: lastFour,
    created_at: nowMicros(),
    expires_at: expiresAt === null ? null : toMicros(expiresAt),
    revoked_at: null,
    last_used_at: null,
  };
  await insertApiKey(transaction, { ...apiKey, user_id: userId, digest: digestOf(key) });
  return { ...apiKey, key };
}
