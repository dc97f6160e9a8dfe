import type { Database } from "../../storage/schema/tables.ts";
import { claimOnce } from "../../storage/settings-store.ts";
import { holdUsers } from "../users/users-store.ts";
import { createApiKey } from "./create-api-key.ts";
import type { KeyDigest } from "./key-digest.ts";

/** Makes the first key of a new database, or nothing later on. Of several processes that start at once, one makes it. */
export async function createFirstKey(
  database: Database,
  digestOf: KeyDigest,
  userId: string,
): Promise<string | undefined> {
  return await database.transaction().execute(async (transaction) => {
    if (!(await claimOnce(transaction, "first_key"))) return undefined;
    await holdUsers(transaction, [userId]);
    return (await createApiKey(transaction, digestOf, { userId, name: "first key", expiresAt: null })).key;
  });
}
