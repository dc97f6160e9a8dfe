import type { Selectable } from "kysely";
import { isPostgres } from "../../storage/is-postgres.ts";
import type { AccountsTable, UsersTable } from "../../storage/schema/identity.ts";
import type { Database } from "../../storage/schema/tables.ts";

export type Account = Pick<AccountsTable, "id" | "name">;
export type User = Selectable<UsersTable>;

export async function selectUser(database: Database, userId: string): Promise<User | undefined> {
  return await database.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirst();
}

export async function selectAccount(database: Database, accountId: string): Promise<Account | undefined> {
  return await database
    .selectFrom("accounts")
    .select(["id", "name"])
    .where("id", "=", accountId)
    .executeTakeFirst();
}

/**
 * Locks users until the transaction ends. Everything that creates or ends a key or a session locks its user first, so that such
 * changes happen one at a time and see those committed before.
 */
export async function lockUsers(transaction: Database, userIds: readonly string[]): Promise<void> {
  await transaction
    .selectFrom("users")
    .select("id")
    .where("id", "in", userIds)
    .orderBy("id")
    .$if(isPostgres(transaction), (query) => query.forNoKeyUpdate())
    .execute();
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

/** Inserts the account and the user unless another process has done so. */
export async function insertUserWithAccount(
  database: Database,
  user: User,
  accountName: string,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    const account_id = await ensureAccount(transaction, user, accountName);
    await transaction
      .insertInto("users")
      .values({ ...user, account_id })
      .onConflict((conflict) => conflict.columns(["oidc_issuer", "oidc_subject"]).doNothing())
      .execute();
  });
}

/** Inserts the account and the user, or updates the existing user. Returns the user's id. */
export async function upsertUserWithAccount(
  database: Database,
  user: User,
  accountName: string,
): Promise<string> {
  return await database.transaction().execute(async (transaction) => {
    const account_id = await ensureAccount(transaction, user, accountName);
    const { email, name } = user;
    const { id } = await transaction
      .insertInto("users")
      .values({ ...user, account_id })
      .onConflict((conflict) =>
        conflict.columns(["oidc_issuer", "oidc_subject"]).doUpdateSet({ email, name, account_id }),
      )
      .returning("id")
      .executeTakeFirstOrThrow();
    return id;
  });
}

/** The id of the account with this name; created with the user's `account_id` if it does not exist. */
async function ensureAccount(
  transaction: Database,
  { account_id, created_at }: User,
  name: string,
): Promise<string> {
  await transaction
    .insertInto("accounts")
    .values({ id: account_id, name, created_at })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  const account = await transaction
    .selectFrom("accounts")
    .select("id")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return account.id;
}

export async function selectAccountIds(database: Database): Promise<string[]> {
  const rows = await database.selectFrom("accounts").select("id").orderBy("id").execute();
  return rows.map(({ id }) => id);
}

export async function selectAccountNames(database: Database): Promise<Account[]> {
  return await database.selectFrom("accounts").select(["id", "name"]).orderBy("name").execute();
}
