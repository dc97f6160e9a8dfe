import type { Role } from "@presage/contract";
import type { Micros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Liveness } from "./sessions-store.ts";
import type { User } from "./users-store.ts";

/** A user with the number of their live sessions and active keys. */
export interface UserAccess {
  id: string;
  email: string | null;
  name: string | null;
  oidc_issuer: string;
  account_name: string;
  role: Role;
  created_at: Micros;
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
    .select(({ selectFrom, fn }) => [
      selectFrom("sessions")
        .select(fn.countAll().as("count"))
        .whereRef("sessions.user_id", "=", "users.id")
        .where("issuer", "=", live.issuer)
        .where("ended_at", "is", null)
        .where("expires_at", ">", live.now)
        .where("last_seen_at", ">", live.seenSince)
        .as("live_sessions"),
      selectFrom("api_keys")
        .select(fn.countAll().as("count"))
        .whereRef("api_keys.user_id", "=", "users.id")
        .where("revoked_at", "is", null)
        .where((row) => row.or([row("expires_at", "is", null), row("expires_at", ">", live.now)]))
        .as("active_keys"),
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
    .where((row) => row.or([row("id", "=", wanted), row(row.fn<string>("lower", ["email"]), "=", wanted)]))
    .execute();
}
