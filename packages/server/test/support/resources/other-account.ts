import { composeStore } from "../../../src/compose/compose-command-line.ts";
import { readConfig } from "../../../src/config.ts";
import { createApiKey } from "../../../src/identity/api-keys/create-api-key.ts";
import { insertUserWithAccount } from "../../../src/identity/users/users-store.ts";
import { createLog } from "../../../src/observability/logger.ts";
import { nowMicros } from "../../../src/storage/micros.ts";

/** Makes another account with a user, and returns a key of that user. */
export async function keyOfAnotherAccount(databaseUrl: string): Promise<string> {
  const config = readConfig({ PRESAGE_DATABASE_URL: databaseUrl, PRESAGE_LOG_LEVEL: "silent" });
  const { database, keyDigest } = await composeStore(config, createLog(config.logLevel));
  const user = {
    id: Bun.randomUUIDv7(),
    account_id: Bun.randomUUIDv7(),
    oidc_issuer: "https://issuer.example",
    oidc_subject: "stranger",
    email: null,
    name: "Stranger",
    created_at: nowMicros(),
  };
  await insertUserWithAccount(database, user, "another account");
  const { key } = await createApiKey(database, keyDigest, { userId: user.id, name: "test", expiresAt: null });
  await database.destroy();
  return key;
}
