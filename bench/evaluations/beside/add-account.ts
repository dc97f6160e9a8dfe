import { addApiKey } from "../../../packages/server/src/accounts/api-keys.ts";
import { insertUserWithAccount } from "../../../packages/server/src/accounts/users-store.ts";
import { composeStore } from "../../../packages/server/src/app/storage.ts";
import { readConfig } from "../../../packages/server/src/config/config.ts";
import { createLog } from "../../../packages/server/src/platform/observability/logger.ts";
import { nowMicros } from "../../../packages/server/src/platform/storage/columns.ts";

/** Adds an account with one user to the database of a running server, and returns a key of that user. */
export const addAccount = async (databaseUrl: string): Promise<string> => {
  const { database, keyDigest } = await composeStore(
    readConfig({ PRESAGE_DATABASE_URL: databaseUrl }),
    createLog("silent"),
  );
  const user = {
    id: Bun.randomUUIDv7(),
    account_id: Bun.randomUUIDv7(),
    oidc_issuer: "https://issuer.example",
    oidc_subject: "another",
    email: null,
    name: "Another",
    created_at: nowMicros(),
    role: "owner" as const,
  };
  await insertUserWithAccount(database, user, "another account");
  const { key } = await addApiKey(database, keyDigest, { userId: user.id, name: "bench", expiresAt: null });
  await database.destroy();
  return key;
};
