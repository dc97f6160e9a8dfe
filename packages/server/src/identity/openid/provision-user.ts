import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { upsertUserWithAccount } from "../users/users-store.ts";
import type { Identity } from "./identity-of.ts";

/** Makes the user at their first sign-in, brings them up to date at later ones, and returns their id. */
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
