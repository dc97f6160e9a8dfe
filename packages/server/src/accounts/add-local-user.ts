import type { Changer } from "../platform/actor.ts";
import { recordChange } from "../platform/record-change.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { insertUser, localIssuer, type User } from "./users-store.ts";

/** Adds a user who signs in with links, or only has keys, to the changer's account. Returns the user's id. */
export async function addLocalUser(
  database: Database,
  changer: Pick<Changer, "accountId" | "actor">,
  { name, email, role }: Pick<User, "name" | "email" | "role">,
): Promise<string> {
  const id = Bun.randomUUIDv7();
  await database.transaction().execute(async (transaction) => {
    await insertUser(transaction, {
      id,
      account_id: changer.accountId,
      oidc_issuer: localIssuer,
      oidc_subject: id,
      email,
      name,
      created_at: nowMicros(),
      role,
    });
    await recordChange(transaction, changer, { action: "user.create", objectId: id, detail: { role } });
  });
  return id;
}
