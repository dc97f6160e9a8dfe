import { nowMicros, toMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/tables.ts";
import { type ApiKey, insertApiKey } from "./api-keys-store.ts";
import type { KeyDigest } from "./key-digest.ts";
import { generateKey, visibleParts } from "./key-format.ts";

export interface NewApiKey {
  userId: string;
  name: string;
  expiresAt: Date | null;
}

/** Makes a key for a user. The key itself is in the answer and nowhere else. */
export async function createApiKey(
  database: Database,
  digestOf: KeyDigest,
  { userId, name, expiresAt }: NewApiKey,
): Promise<ApiKey & { key: string }> {
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
  await insertApiKey(database, { ...apiKey, user_id: userId, digest: digestOf(key) });
  return { ...apiKey, key };
}
