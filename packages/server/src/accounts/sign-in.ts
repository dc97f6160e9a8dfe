import { randomBytes } from "node:crypto";
import type { Role } from "@presage/contract";
import { recordChange } from "../platform/audit.ts";
import { ServiceError } from "../platform/errors.ts";
import { reopenAccount, selectClosed } from "../platform/storage/closed-accounts-store.ts";
import { type Micros, microsPerMs, nowMicros } from "../platform/storage/columns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Identity } from "./openid-identity.ts";
import { admitSession, type SessionBrowser, type SignInServices } from "./sessions.ts";
import { selectUser, upsertUserWithAccount } from "./users-store.ts";
import type { KeyDigest } from "./verify-api-key.ts";

/** Uses up a token and returns its user's id; undefined if it is unknown, used or expired. */
async function markUsed(database: Database, digest: string, usedAt: Micros): Promise<string | undefined> {
  const used = await database
    .updateTable("sign_in_tokens")
    .set({ used_at: usedAt })
    .where("digest", "=", digest)
    .where("used_at", "is", null)
    .where("expires_at", ">", usedAt)
    .returning("user_id")
    .executeTakeFirst();
  return used?.user_id;
}

/** Uses up every token of a user. */
export async function markAllUsed(database: Database, userId: string, usedAt: Micros): Promise<void> {
  await database
    .updateTable("sign_in_tokens")
    .set({ used_at: usedAt })
    .where("user_id", "=", userId)
    .where("used_at", "is", null)
    .execute();
}

/** Deletes some expired tokens, the oldest first. */
async function deleteExpiredTokens(database: Database, now: Micros, limit: number): Promise<void> {
  await database
    .deleteFrom("sign_in_tokens")
    .where("digest", "in", (expired) =>
      expired
        .selectFrom("sign_in_tokens")
        .select("digest")
        .where("expires_at", "<=", now)
        .orderBy("expires_at")
        .limit(limit),
    )
    .execute();
}

const tokenBytes = 32;
const validForMs = 12 * 60 * 60_000;
const deletedAtOnce = 20;

/** Creates a token that signs in one browser as this user, once. It is not stored. */
export async function createSignInToken(
  database: Database,
  digestOf: KeyDigest,
  userId: string,
): Promise<string> {
  const token = randomBytes(tokenBytes).toString("base64url");
  const now = nowMicros();
  const expires_at = now + validForMs * microsPerMs;
  const row = { digest: digestOf(token), user_id: userId, created_at: now, expires_at, used_at: null };
  await database.insertInto("sign_in_tokens").values(row).execute();
  // If it fails, a later token deletes them.
  await deleteExpiredTokens(database, now, deletedAtOnce).catch(() => {});
  return token;
}

/** Uses up a sign-in link's token and signs in its user. Returns the session's token. */
export async function useSignInToken(
  services: SignInServices,
  digestOf: KeyDigest,
  token: string,
  browser: SessionBrowser,
): Promise<string> {
  return await admitSession(
    services,
    "local sign-in",
    async (transaction) => {
      const userId = await markUsed(transaction, digestOf(token), nowMicros());
      const user = userId === undefined ? undefined : await selectUser(transaction, userId);
      if (user !== undefined) return { userId: user.id, accountId: user.account_id, idToken: null };
      throw new ServiceError(
        "unauthenticated",
        "This sign-in link was already used or is older than 12 hours.",
      );
    },
    browser,
  );
}

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
      await recordChange(transaction, { accountId, actor }, action, userId, { role });
      if (leftAccountId !== undefined && (await selectClosed(transaction, [leftAccountId])).size === 0)
        await recordChange(transaction, { accountId: leftAccountId, actor }, action, userId, { left: true });
    }
    return { userId, accountId };
  });
}
