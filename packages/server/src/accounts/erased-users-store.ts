import type { Database } from "../platform/storage/schema/tables.ts";

/** How many other users a user's account has. */
export async function countOtherUsers(
  database: Database,
  { id, account_id }: { id: string; account_id: string },
): Promise<number> {
  const { count } = await database
    .selectFrom("users")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("account_id", "=", account_id)
    .where("id", "!=", id)
    .executeTakeFirstOrThrow();
  return Number(count);
}

const ofUser = ["sign_in_tokens", "sessions", "api_keys"] as const;

/** How much a user has that is theirs alone, by table. */
export async function countRowsOfUser(database: Database, userId: string): Promise<Map<string, number>> {
  const counted = new Map<string, number>();
  for (const table of ofUser) {
    const { count } = await database
      .selectFrom(table)
      .select((of) => of.fn.countAll<number>().as("count"))
      .where("user_id", "=", userId)
      .executeTakeFirstOrThrow();
    counted.set(table, Number(count));
  }
  return counted;
}

/** Deletes a user with keys and sessions, and the account if `withAccount`. */
export async function deleteUserRows(
  transaction: Database,
  { id, account_id }: { id: string; account_id: string },
  withAccount: boolean,
): Promise<Map<string, number>> {
  const deleted = new Map<string, number>();
  for (const table of ofUser) {
    const { numDeletedRows } = await transaction
      .deleteFrom(table)
      .where("user_id", "=", id)
      .executeTakeFirstOrThrow();
    deleted.set(table, Number(numDeletedRows));
  }
  await transaction.deleteFrom("users").where("id", "=", id).execute();
  deleted.set("users", 1);
  if (withAccount) {
    await transaction.deleteFrom("audit_events").where("account_id", "=", account_id).execute();
    await transaction.deleteFrom("accounts").where("id", "=", account_id).execute();
    deleted.set("accounts", 1);
  }
  return deleted;
}
