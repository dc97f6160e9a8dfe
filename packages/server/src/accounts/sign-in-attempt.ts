import type { Role } from "@presage/contract";
import { z } from "zod";
import { recordChange } from "../platform/audit.ts";
import { reopenAccount, selectClosed } from "../platform/storage/closed-accounts-store.ts";
import { nowMicros } from "../platform/storage/columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Identity } from "./openid-identity.ts";
import { upsertUserWithAccount } from "./users-store.ts";

/** How long a sign-in at the provider may take. */
export const attemptLifetimeS = 600;

/** What the browser remembers until the provider redirects it back. */
export const SignInAttempt = z.object({
  state: z.string(),
  nonce: z.string(),
  codeVerifier: z.string(),
  returnTo: z.string(),
});
export type SignInAttempt = z.infer<typeof SignInAttempt>;

/** How a user who is new to an account is taken in. */
export interface Admittance {
  newUserRole: Role;
  requestId: string;
}

/**
 * Creates the user at the first sign-in and updates them at later ones. An account that is being erased is opened again for whoever joins
 * it; whoever leaves one leaves no record there.
 */
export async function provisionUser(
  database: Database,
  { issuer, subject, email, name, accountName }: Identity,
  { newUserRole, requestId }: Admittance,
): Promise<{ userId: string; accountId: string }> {
  const user = {
    id: Bun.randomUUIDv7(),
    account_id: Bun.randomUUIDv7(),
    oidc_issuer: issuer,
    oidc_subject: subject,
    email,
    name,
    created_at: nowMicros(),
    role: newUserRole,
  };
  return await database.transaction().execute(async (transaction) => {
    const joined = await upsertUserWithAccount(transaction, user, { accountName, newUserRole });
    const { userId, accountId, role, change, leftAccountId } = joined;
    if (change !== undefined) {
      const actor = { kind: "sign_in", userId, id: null, name: null, requestId } as const;
      const action = change === "created" ? "user.create" : "user.change_account";
      await reopenAccount(transaction, accountId);
      await recordChange(transaction, { accountId, actor }, { action, objectId: userId, detail: { role } });
      if (leftAccountId !== undefined && (await selectClosed(transaction, [leftAccountId])).size === 0)
        await recordChange(
          transaction,
          { accountId: leftAccountId, actor },
          { action, objectId: userId, detail: { left: true } },
        );
    }
    return { userId, accountId };
  });
}
