import type { Selectable } from "kysely";
import { isPostgres } from "../../storage/is-postgres.ts";
import type { UsersTable } from "../../storage/schema/identity.ts";
import type { Database } from "../../storage/schema/tables.ts";

export type User = Selectable<UsersTable>;

export async function selectUser(database: Database, userId: string): Promise<User | undefined> {
  return await database.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirst();
}

/**
 * Holds the access of some users until the transaction ends: whoever adds to it or ends any of it is alone, and sees what
 * was committed before. Everything that makes or ends a key or a session begins with it.
 */
export async function holdUsers(transaction: Database, userIds: readonly string[]): Promise<void> {
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

/** Stores the account and the user unless another process did so first. */
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

/** Stores the account and the user; of one that is there already, what can change. Returns the id that the user has. */
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

/** The id of the account of this name, which is made with the user's if there is none. */
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
