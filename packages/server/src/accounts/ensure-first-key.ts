import type { Database } from "../platform/storage/schema/tables.ts";
import { claimOnce } from "../platform/storage/settings-store.ts";
import { insertApiKey } from "./api-keys-store.ts";
import { addApiKey, describeNewKey } from "./create-api-key.ts";
import { lockUsers } from "./users-store.ts";
import type { KeyDigest } from "./verify-api-key.ts";

/**
 * Gives a user the bootstrap key, or a generated key if there is none and the database is new. Returns the generated key.
 * Processes that start at once create one key; a bootstrap key that was revoked stays revoked.
 */
export async function ensureFirstKey(
  database: Database,
  digestOf: KeyDigest,
  userId: string,
  bootstrapKey: string | undefined,
): Promise<string | undefined> {
  if (bootstrapKey !== undefined) {
    const apiKey = describeNewKey(bootstrapKey, { userId, name: "bootstrap", expiresAt: null });
    await insertApiKey(database, { ...apiKey, digest: digestOf(bootstrapKey) });
    return undefined;
  }
  return await database.transaction().execute(async (transaction) => {
    if (!(await claimOnce(transaction, "first_key"))) return undefined;
    await lockUsers(transaction, [userId]);
    return (await addApiKey(transaction, digestOf, { userId, name: "first key", expiresAt: null })).key;
  });
}
