import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { insertApiKey } from "./api-keys-store.ts";
import type { KeyDigest } from "./key-digest.ts";
import { visibleParts } from "./key-format.ts";

/** Makes the configured key one of the owner's, once. One that was revoked stays revoked. */
export async function ensureBootstrapKey(
  database: Database,
  digestOf: KeyDigest,
  { userId, key }: { userId: string; key: string },
): Promise<void> {
  const { prefix, lastFour } = visibleParts(key);
  await insertApiKey(database, {
    id: Bun.randomUUIDv7(),
    user_id: userId,
    name: "bootstrap",
    digest: digestOf(key),
    prefix,
    last_four: lastFour,
    created_at: nowMicros(),
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
  });
}
