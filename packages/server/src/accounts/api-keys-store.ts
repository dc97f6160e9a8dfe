import type { KeyScope, Role } from "@presage/contract";
import type { Micros } from "../platform/storage/columns.ts";
import { type KeysetPage, type ListPart, selectNewestFirst } from "../platform/storage/lists.ts";
import type { ApiKeysTable } from "../platform/storage/schema/accounts.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

export type ApiKey = Omit<ApiKeysTable, "digest">;

/** The stored key that a request's key is checked against. */
export interface KeyRecord extends Omit<ApiKey, "prefix" | "last_four" | "created_at"> {
  account_id: string;
  role: Role;
}

/** The settings of a key to change; null restores the server's default. */
export type ChangedSettings = Partial<Pick<ApiKey, "rate_limit_rpm" | "max_in_flight" | "capture">>;

const listed = [
  "id",
  "user_id",
  "name",
  "prefix",
  "last_four",
  "created_at",
  "expires_at",
  "revoked_at",
  "last_used_at",
  "rate_limit_rpm",
  "max_in_flight",
  "capture",
  "scopes",
] as const;

export function readScopes(stored: string): KeyScope[] {
  // `scopes` was stored from this type.
  return JSON.parse(stored) as KeyScope[];
}

/** Inserts a key unless its digest exists. */
export async function insertApiKey(database: Database, row: ApiKeysTable) {
  await database
    .insertInto("api_keys")
    .values(row)
    .onConflict((conflict) => conflict.column("digest").doNothing())
    .execute();
}

/** A page of a user's or an account's keys, newest first, including revoked ones. */
export async function selectApiKeys(
  reader: Database,
  of: { userId: string } | { accountId: string },
  page: KeysetPage,
): Promise<ListPart<ApiKey>> {
  const all = reader.selectFrom("api_keys").select(listed);
  const query =
    "userId" in of
      ? all.where("user_id", "=", of.userId)
      : all.where("user_id", "in", (users) =>
          users.selectFrom("users").select("users.id").where("account_id", "=", of.accountId),
        );
  return await selectNewestFirst(query, page);
}

/** The id of the key's holder if this user may change the key: it is their own, or they own the account. */
export async function selectHolder(database: Database, userId: string, keyId: string) {
  const key = await database
    .selectFrom("api_keys")
    .innerJoin("users as holder", "holder.id", "api_keys.user_id")
    .innerJoin("users as caller", "caller.account_id", "holder.account_id")
    .select("holder.id")
    .where("api_keys.id", "=", keyId)
    .where("caller.id", "=", userId)
    .where((row) => row.or([row("caller.role", "=", "owner"), row("holder.id", "=", row.ref("caller.id"))]))
    .executeTakeFirst();
  return key?.id;
}

export async function selectKeyRecord(database: Database, digest: string): Promise<KeyRecord | undefined> {
  return await database
    .selectFrom("api_keys")
    .innerJoin("users", "users.id", "api_keys.user_id")
    .select([
      "api_keys.id",
      "api_keys.name",
      "api_keys.user_id",
      "users.account_id",
      "users.role",
      "api_keys.expires_at",
      "api_keys.revoked_at",
      "api_keys.last_used_at",
      "api_keys.rate_limit_rpm",
      "api_keys.max_in_flight",
      "api_keys.capture",
      "api_keys.scopes",
    ])
    .where("digest", "=", digest)
    .executeTakeFirst();
}

/** Whether a user's key is active. */
export async function isKeyLive(database: Database, userId: string, keyId: string, now: Micros) {
  const live = await selectActive(database, userId, now).where("id", "=", keyId).executeTakeFirst();
  return live !== undefined;
}

/** How many active keys a user has, counted up to `limit`. */
export async function countActiveKeys(database: Database, userId: string, now: Micros, limit: number) {
  const { count } = await database
    .selectFrom(selectActive(database, userId, now).limit(limit).as("active"))
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  return count;
}

function selectActive(database: Database, userId: string, now: Micros) {
  return database
    .selectFrom("api_keys")
    .select("id")
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", now)]));
}

/** Revokes a user's key and returns it; undefined if the user has no such key. The time of a first revocation stays. */
export async function markRevoked(database: Database, userId: string, keyId: string, revokedAt: Micros) {
  return await database
    .updateTable("api_keys")
    .set((update) => ({ revoked_at: update.fn.coalesce("revoked_at", update.val(revokedAt)) }))
    .where("id", "=", keyId)
    .where("user_id", "=", userId)
    .returning(["digest", "name", "revoked_at"])
    .executeTakeFirst();
}

/** Changes the settings of a user's key and returns it with its digest; undefined if the user has no such key. */
export async function updateSettings(
  transaction: Database,
  userId: string,
  keyId: string,
  settings: ChangedSettings,
) {
  const ofKey = { id: keyId, user_id: userId };
  if (Object.keys(settings).length > 0)
    await transaction
      .updateTable("api_keys")
      .set(settings)
      .where((row) => row.and(ofKey))
      .execute();
  return await transaction
    .selectFrom("api_keys")
    .select([...listed, "digest"])
    .where((row) => row.and(ofKey))
    .executeTakeFirst();
}

/** Revokes a user's active keys and returns how many. */
export async function markAllRevoked(transaction: Database, userId: string, revokedAt: Micros) {
  const active = await selectActive(transaction, userId, revokedAt)
    // One by one in the order in which last uses are written, so that the two cannot deadlock.
    .orderBy("id")
    .execute();
  for (const { id } of active) await markRevoked(transaction, userId, id, revokedAt);
  return active.length;
}

/** Moves each key's last use forward, never back, in one transaction. */
export async function writeLastUses(database: Database, lastUses: ReadonlyMap<string, Micros>) {
  // In the order of their ids, so that two processes that write the same keys cannot deadlock.
  const inOrder = [...lastUses].sort(([a], [b]) => (a < b ? -1 : 1));
  await database.transaction().execute(async (transaction) => {
    for (const [keyId, usedAt] of inOrder) {
      await transaction
        .updateTable("api_keys")
        .set({ last_used_at: usedAt })
        .where("id", "=", keyId)
        .where((row) => row.or([row("last_used_at", "is", null), row("last_used_at", "<", usedAt)]))
        .execute();
    }
  });
}
