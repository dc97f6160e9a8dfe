import { nowMicros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { insertUserWithAccount, localIssuer, selectUserByIdentity, type User } from "./users-store.ts";

export const ownerSubject = "owner";

/** The only user of local mode, and the bootstrap key's user in every mode. Created at the first start. */
export async function ensureOwner(database: Database): Promise<User> {
  const known = await selectUserByIdentity(database, localIssuer, ownerSubject);
  if (known !== undefined) return known;
  const owner: User = {
    id: Bun.randomUUIDv7(),
    account_id: Bun.randomUUIDv7(),
    oidc_issuer: localIssuer,
    oidc_subject: ownerSubject,
    email: null,
    name: "Owner",
    created_at: nowMicros(),
    role: "owner",
  };
  await insertUserWithAccount(database, owner, "default");
  return (await selectUserByIdentity(database, localIssuer, ownerSubject)) ?? owner;
}
