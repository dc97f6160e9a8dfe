import type { Selectable } from "kysely";
import type { Database, UsersTable } from "../storage/tables.ts";

export type User = Selectable<UsersTable>;

export async function selectUser(database: Database, userId: string): Promise<User | undefined> {
  return await database.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirst();
}

export async function selectUserByIdentity(
  database: Database,
  issuer: string,
  subject: string,
): Promise<User | undefined> {
  return await database
    .selectFrom("users")
    .selectAll()
    .where("oidc_issuer", "=", issuer)
    .where("oidc_subject", "=", subject)
    .executeTakeFirst();
}

/** Stores the account and the user unless another process did so first. */
export async function insertUserWithAccount(
  database: Database,
  user: User,
  accountName: string,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    await transaction
      .insertInto("accounts")
      .values({ id: user.account_id, name: accountName, created_at: user.created_at })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    const account = await transaction
      .selectFrom("accounts")
      .select("id")
      .where("name", "=", accountName)
      .executeTakeFirstOrThrow();
    await transaction
      .insertInto("users")
      .values({ ...user, account_id: account.id })
      .onConflict((conflict) => conflict.columns(["oidc_issuer", "oidc_subject"]).doNothing())
      .execute();
  });
}
