import { addApiKey } from "../../../src/accounts/api-keys.ts";
import { insertUserWithAccount } from "../../../src/accounts/users-store.ts";
import { nowMicros } from "../../../src/platform/storage/columns.ts";
import { openStore } from "../store/open-store.ts";

/** Creates another account with a user, and returns a key of that user. */
export async function keyOfAnotherAccount(databaseUrl: string): Promise<string> {
  await using store = await openStore(databaseUrl);
  const user = {
    id: Bun.randomUUIDv7(),
    account_id: Bun.randomUUIDv7(),
    oidc_issuer: "https://issuer.example",
    oidc_subject: "stranger",
    email: null,
    name: "Stranger",
    created_at: nowMicros(),
    role: "owner" as const,
  };
  await insertUserWithAccount(store.database, user, "another account");
  const fields = { userId: user.id, name: "test", expiresAt: null };
  return (await addApiKey(store.database, store.keyDigest, fields)).key;
}
