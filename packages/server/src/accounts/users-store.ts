import { permissions, type Role } from "@presage/contract";
import type { ExpressionBuilder } from "kysely";
import { type Micros, nowMicros } from "../platform/storage/columns.ts";
import { type KeysetPage, selectNewestFirst } from "../platform/storage/lists.ts";
import type { AccountsTable, UsersTable } from "../platform/storage/schema/accounts.ts";
import type { Database, Tables } from "../platform/storage/schema/tables.ts";
import { isPostgres } from "../platform/storage/store.ts";
import type { Liveness } from "./sessions-store.ts";

/** How many other users the account has. */
export async function countOtherUsers(
  database: Database,
  { id, account_id }: { id: string; account_id: string },
) {
  const { count } = await database
    .selectFrom("users")
    .select((of) => of.fn.countAll<number>().as("count"))
    .where("account_id", "=", account_id)
    .where("id", "!=", id)
    .executeTakeFirstOrThrow();
  return count;
}

const ofUser = ["sign_in_tokens", "sessions", "api_keys", "shares"] as const;

/** How many rows belong to this user alone, by table. */
export async function countRowsOfUser(database: Database, userId: string) {
  const counted = new Map<string, number>();
  for (const table of ofUser) {
    const { count } = await database
      .selectFrom(table)
      .select((of) => of.fn.countAll<number>().as("count"))
      .where("user_id", "=", userId)
      .executeTakeFirstOrThrow();
    counted.set(table, count);
  }
  return counted;
}

/** Ends the links that a user made. */
export async function deleteSharesBy(transaction: Database, userId: string) {
  await transaction.deleteFrom("shares").where("user_id", "=", userId).execute();
}

/** Deletes a user with keys and sessions, and the account if `withAccount`. */
export async function deleteUserRows(
  transaction: Database,
  { id, account_id }: { id: string; account_id: string },
  withAccount: boolean,
) {
  const deleted = new Map<string, number>();
  await transaction
    .deleteFrom("budgets")
    .where("api_key_id", "in", (keys) => keys.selectFrom("api_keys").select("id").where("user_id", "=", id))
    .execute();
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
    for (const table of ["audit_events", "budgets"] as const)
      await transaction.deleteFrom(table).where("account_id", "=", account_id).execute();
    await transaction.deleteFrom("accounts").where("id", "=", account_id).execute();
    deleted.set("accounts", 1);
  }
  return deleted;
}

export type Member = Pick<User, "id" | "email" | "name" | "role" | "created_at">;

/** A page of an account's users, newest first: when each was last active, and how many of their keys are active. */
export async function selectMembers(reader: Database, accountId: string, page: KeysetPage) {
  const query = reader
    .selectFrom("users")
    .select(["id", "email", "name", "role", "created_at"])
    .select((user) => [
      user
        .selectFrom("sessions")
        .select((of) => of.fn.max("last_seen_at").as("seen"))
        .whereRef("sessions.user_id", "=", "users.id")
        .as("session_seen"),
      user
        .selectFrom("api_keys")
        .select((of) => of.fn.max("last_used_at").as("used"))
        .whereRef("api_keys.user_id", "=", "users.id")
        .as("key_used"),
      countActiveKeys(user, nowMicros()).as("active_keys"),
    ])
    .where("account_id", "=", accountId);
  const { rows, next } = await selectNewestFirst(query, page);
  return {
    rows: rows.map(({ session_seen, key_used, active_keys, ...member }) => ({
      ...member,
      last_seen_at: Math.max(session_seen ?? 0, key_used ?? 0) || null,
      active_keys: Number(active_keys),
    })),
    next,
  };
}

/** How many keys of a query's user are active. */
function countActiveKeys(user: ExpressionBuilder<Tables, "users">, now: Micros) {
  return user
    .selectFrom("api_keys")
    .select((of) => of.fn.countAll<number>().as("count"))
    .whereRef("api_keys.user_id", "=", "users.id")
    .where("revoked_at", "is", null)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", now)]));
}

/** Changes a user's role. Links that they may no longer make are deleted: changing the role back does not restore them. */
export async function updateRole(transaction: Database, userId: string, role: Role) {
  await transaction.updateTable("users").set({ role }).where("id", "=", userId).execute();
  if (!permissions.evaluate.roles.includes(role)) await deleteSharesBy(transaction, userId);
}

/** Entra's issuers for several tenants; their users have the issuers of their own tenants. */
const ofTenants = /\/(common|organizations)\/.*$/i;

/** Whether a user signs in at the configured issuer. */
function isOfProvider(issuer: string) {
  return (user: ExpressionBuilder<Tables, "users">) =>
    user("oidc_issuer", ofTenants.test(issuer) ? "like" : "=", issuer.replace(ofTenants, "/%"));
}

/** Whether an account has another owner who can sign in now: owners of an issuer that is no longer configured cannot. */
export async function hasOtherOwner(
  transaction: Database,
  accountId: string,
  userId: string,
  issuer: string,
) {
  const owner = await transaction
    .selectFrom("users")
    .select("id")
    .where("account_id", "=", accountId)
    .where("role", "=", "owner")
    .where("id", "!=", userId)
    .where(isOfProvider(issuer))
    .limit(1)
    .executeTakeFirst();
  return owner !== undefined;
}

/** The digests of a user's keys that are not revoked. */
export async function selectDigestsOf(database: Database, userId: string) {
  const keys = await database
    .selectFrom("api_keys")
    .select("digest")
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .execute();
  return keys.map(({ digest }) => digest);
}

export interface UserAccess extends Member, Pick<User, "oidc_issuer"> {
  account_name: string;
  live_sessions: number;
  active_keys: number;
}

/** All users, oldest first. */
export async function selectUsersAccess(database: Database, live: Liveness): Promise<UserAccess[]> {
  const users = await database
    .selectFrom("users")
    .innerJoin("accounts", "accounts.id", "users.account_id")
    .select([
      "users.id",
      "users.email",
      "users.name",
      "users.oidc_issuer",
      "accounts.name as account_name",
      "users.created_at",
      "users.role",
    ])
    .select((user) => [
      user
        .selectFrom("sessions")
        .select((of) => of.fn.countAll<number>().as("count"))
        .whereRef("sessions.user_id", "=", "users.id")
        .where("issuer", "=", live.issuer)
        .where("ended_at", "is", null)
        .where("expires_at", ">", live.now)
        .where("last_seen_at", ">", live.seenSince)
        .as("live_sessions"),
      countActiveKeys(user, live.now).as("active_keys"),
    ])
    .orderBy("users.created_at")
    .orderBy("users.id")
    .execute();
  return users.map(({ live_sessions, active_keys, ...user }) => ({
    ...user,
    live_sessions: Number(live_sessions),
    active_keys: Number(active_keys),
  }));
}

/** The users with this id or, in any letter case, this e-mail address. */
export async function selectUsers(database: Database, idOrEmail: string): Promise<User[]> {
  const wanted = idOrEmail.toLowerCase();
  return await database
    .selectFrom("users")
    .selectAll()
    .where((row) =>
      row.or([
        row("id", "=", wanted),
        row(row.fn<string>("lower", ["email"]), "=", wanted),
        // SQLite's `lower` changes ASCII letters only.
        row("email", "=", idOrEmail),
      ]),
    )
    .execute();
}

export type Account = Pick<AccountsTable, "id" | "name">;
export type User = UsersTable;

/** The issuer of local mode, in which people sign in with a printed link. */
export const localIssuer = "urn:presage:local";

export async function selectUser(database: Database, userId: string): Promise<User | undefined> {
  return await database.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirst();
}

export async function selectAccount(
  database: Database,
  by: keyof Account,
  value: string,
): Promise<Account | undefined> {
  return await database
    .selectFrom("accounts")
    .select(["id", "name"])
    .where(by, "=", value)
    .executeTakeFirst();
}

/**
 * Locks users until the transaction ends. Everything that creates or ends a key or a session locks its user first, so that such
 * changes happen one at a time and see earlier commits.
 */
export async function lockUsers(transaction: Database, userIds: readonly string[]) {
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

export async function insertUser(transaction: Database, user: User) {
  await transaction.insertInto("users").values(user).execute();
}

/** Inserts the account and the user unless another process has done so. */
export async function insertUserWithAccount(database: Database, user: User, accountName: string) {
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
  /** What happened to the user; undefined if they were in the account already. */
  change: "created" | "moved" | undefined;
  /** The account that the user left. */
  leftAccountId: string | undefined;
}

/**
 * Inserts the account and the user, or updates the existing user. The first user who signs in to an account through a provider owns
 * it; all others get `newUserRole`, including anyone who moves from another account.
 */
export async function upsertUserWithAccount(
  transaction: Database,
  user: User,
  { accountName, newUserRole, issuer }: { accountName: string; newUserRole: Role; issuer: string },
): Promise<JoinedUser> {
  const accountId = await ensureAccount(transaction, user, accountName);
  // If two people sign in for the first time simultaneously, one waits.
  await lockAccount(transaction, accountId);
  const { email, name, oidc_issuer, oidc_subject } = user;
  const known = await selectUserByIdentity(transaction, oidc_issuer, oidc_subject);
  const role =
    known?.account_id === accountId
      ? known.role
      : (await hasUsersOf(transaction, accountId, issuer))
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
  if (change === "moved") {
    // What they shared is no longer theirs to show, even if they come back.
    await deleteSharesBy(transaction, id);
    // Their keys now spend in the new account, and keep their limits.
    await transaction
      .updateTable("budgets")
      .set({ account_id: accountId })
      .where("api_key_id", "in", (keys) => keys.selectFrom("api_keys").select("id").where("user_id", "=", id))
      .execute();
  }
  return { userId: id, accountId, role, change, leftAccountId };
}

/** Locks an account until the transaction ends, so that its members and their roles change one at a time. */
export async function lockAccount(transaction: Database, accountId: string) {
  await transaction
    .selectFrom("accounts")
    .select("id")
    .where("id", "=", accountId)
    .$if(isPostgres(transaction), (query) => query.forNoKeyUpdate())
    .execute();
}

async function hasUsersOf(transaction: Database, accountId: string, issuer: string) {
  const user = await transaction
    .selectFrom("users")
    .select("id")
    .where("account_id", "=", accountId)
    .where(isOfProvider(issuer))
    .limit(1)
    .executeTakeFirst();
  return user !== undefined;
}

/** The id of the account with this name; created with the user's `account_id` if it does not exist. */
export async function ensureAccount(
  transaction: Database,
  { account_id, created_at }: Pick<User, "account_id" | "created_at">,
  name: string,
) {
  await transaction
    .insertInto("accounts")
    .values({ id: account_id, name, created_at })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  return (await selectAccount(transaction, "name", name))?.id ?? account_id;
}

export async function selectAccountIds(database: Database) {
  const rows = await database.selectFrom("accounts").select("id").orderBy("id").execute();
  return rows.map(({ id }) => id);
}

export async function selectAccountNames(database: Database): Promise<Account[]> {
  return await database.selectFrom("accounts").select(["id", "name"]).orderBy("name").execute();
}
