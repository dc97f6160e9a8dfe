import type { Role } from "@presage/contract";
import { type KeysetPage, type ListPart, selectNewestFirst } from "../platform/storage/keyset.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { User } from "./users-store.ts";

export type Member = Pick<User, "id" | "email" | "name" | "role" | "created_at">;

/** A page of an account's users, newest first. */
export async function selectMembers(
  reader: Database,
  accountId: string,
  page: KeysetPage,
): Promise<ListPart<Member>> {
  const query = reader
    .selectFrom("users")
    .select(["id", "email", "name", "role", "created_at"])
    .where("account_id", "=", accountId);
  return await selectNewestFirst(query, page);
}

export async function updateRole(transaction: Database, userId: string, role: Role): Promise<void> {
  await transaction.updateTable("users").set({ role }).where("id", "=", userId).execute();
}

/** Whether an account has an owner besides a user, who can sign in now: those of another issuer than the configured one cannot. */
export async function hasOtherOwner(
  transaction: Database,
  accountId: string,
  userId: string,
  issuer: string,
): Promise<boolean> {
  const owner = await transaction
    .selectFrom("users")
    .select("id")
    .where("account_id", "=", accountId)
    .where("role", "=", "owner")
    .where("id", "!=", userId)
    .where("oidc_issuer", "=", issuer)
    .limit(1)
    .executeTakeFirst();
  return owner !== undefined;
}

/** The digests of a user's keys that are not revoked. */
export async function selectDigestsOf(database: Database, userId: string): Promise<string[]> {
  const keys = await database
    .selectFrom("api_keys")
    .select("digest")
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .execute();
  return keys.map(({ digest }) => digest);
}
