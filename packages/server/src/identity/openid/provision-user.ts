import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { upsertUserWithAccount } from "../users/users-store.ts";
import type { Identity } from "./identity-of.ts";

/** Creates the user at the first sign-in and updates them at later ones. Returns the user's id. */
export async function provisionUser(
  database: Database,
  { issuer, subject, email, name, accountName }: Identity,
): Promise<string> {
  const user = {
    id: Bun.randomUUIDv7(),
    account_id: Bun.randomUUIDv7(),
    oidc_issuer: issuer,
    oidc_subject: subject,
    email,
    name,
    created_at: nowMicros(),
  };
  return await upsertUserWithAccount(database, user, accountName);
}
