import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { insertUserWithAccount, selectUserByIdentity, type User } from "./users-store.ts";

/** What stands for an identity provider where people sign in by a printed address. */
export const localIssuer = "urn:presage:local";
const ownerSubject = "owner";

/** The one user of local mode, to whom the bootstrap key belongs in every mode. Made at the first start. */
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
  };
  await insertUserWithAccount(database, owner, "default");
  return (await selectUserByIdentity(database, localIssuer, ownerSubject)) ?? owner;
}
