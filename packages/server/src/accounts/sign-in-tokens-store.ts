import type { Micros } from "../platform/storage/micros.ts";
import type { SignInTokensTable } from "../platform/storage/schema/identity.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

export async function insertSignInToken(database: Database, row: SignInTokensTable): Promise<void> {
  await database.insertInto("sign_in_tokens").values(row).execute();
}

/** Uses up a token and returns its user's id; undefined if it is unknown, used or expired. */
export async function markUsed(
  database: Database,
  digest: string,
  usedAt: Micros,
): Promise<string | undefined> {
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
export async function deleteExpiredTokens(database: Database, now: Micros, limit: number): Promise<void> {
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
