import type { Role } from "@presage/contract";
import type { Selectable } from "kysely";
import { isPostgres } from "../platform/storage/is-postgres.ts";
import type { AccountsTable, UsersTable } from "../platform/storage/schema/identity.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

export type Account = Pick<AccountsTable, "id" | "name">;
export type User = Selectable<UsersTable>;

/** The issuer of local mode, in which people sign in with a printed link. */
export const localIssuer = "urn:presage:local";

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

export async function selectAccountByName(database: Database, name: string): Promise<Account | undefined> {
  return await database
    .selectFrom("accounts")
    .select(["id", "name"])
    .where("name", "=", name)
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

export async function insertUser(transaction: Database, user: User): Promise<void> {
  await transaction.insertInto("users").values(user).execute();
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

export interface JoinedUser {
  userId: string;
  accountId: string;
  role: Role;
  /** What became of the user; undefined if they were in the account before. */
  change: "created" | "moved" | undefined;
  /** The account that the user came from. */
  leftAccountId: string | undefined;
}

/**
 * Inserts the account and the user, or updates the existing user. The first user of an account who signs in at a provider owns it; all
 * others get `newUserRole`, as does anyone who comes from another account.
 */
export async function upsertUserWithAccount(
  transaction: Database,
  user: User,
  { accountName, newUserRole }: { accountName: string; newUserRole: Role },
): Promise<JoinedUser> {
  const accountId = await ensureAccount(transaction, user, accountName);
  // If two people sign in for the first time at once, one waits.
  await lockAccount(transaction, accountId);
  const { email, name, oidc_issuer, oidc_subject } = user;
  const known = await selectUserByIdentity(transaction, oidc_issuer, oidc_subject);
  const role =
    known?.account_id === accountId
      ? known.role
      : (await hasUsersOf(transaction, accountId, oidc_issuer))
        ? newUserRole
        : "owner";
  const { id } = await transaction
    .insertInto("users")
    .values({ ...user, account_id: accountId, role })
    .onConflict((conflict) =>
      conflict
        .columns(["oidc_issuer", "oidc_subject"])
        .doUpdateSet({ email, name, account_id: accountId, role }),
    )
    .returning("id")
    .executeTakeFirstOrThrow();
  const change = known === undefined ? "created" : known.account_id === accountId ? undefined : "moved";
  const leftAccountId = change === "moved" ? known?.account_id : undefined;
  return { userId: id, accountId, role, change, leftAccountId };
}

/** Locks an account until the transaction ends: who is in it with which role changes one at a time. */
export async function lockAccount(transaction: Database, accountId: string): Promise<void> {
  await transaction
    .selectFrom("accounts")
    .select("id")
    .where("id", "=", accountId)
    .$if(isPostgres(transaction), (query) => query.forNoKeyUpdate())
    .execute();
}

async function hasUsersOf(transaction: Database, accountId: string, issuer: string): Promise<boolean> {
  const user = await transaction
    .selectFrom("users")
    .select("id")
    .where("account_id", "=", accountId)
    .where("oidc_issuer", "=", issuer)
    .limit(1)
    .executeTakeFirst();
  return user !== undefined;
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
