import { randomBytes } from "node:crypto";
import { microsPerMs, nowMicros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { deleteExpiredTokens, insertSignInToken } from "./sign-in-tokens-store.ts";
import type { KeyDigest } from "./verify-api-key.ts";

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
  await insertSignInToken(database, {
    digest: digestOf(token),
    user_id: userId,
    created_at: now,
    expires_at: now + validForMs * microsPerMs,
    used_at: null,
  });
  // If it fails, a later token deletes them.
  await deleteExpiredTokens(database, now, deletedAtOnce).catch(() => {});
  return token;
}
