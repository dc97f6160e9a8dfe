import type { Role } from "@presage/contract";
import { sql } from "kysely";
import { type Micros, microsPerMs, nowMicros } from "../platform/storage/columns.ts";
import { type KeysetPage, selectNewestFirst } from "../platform/storage/lists.ts";
import type { SessionsTable, SignInTokensTable } from "../platform/storage/schema/accounts.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

export interface SessionRules {
  /** The configured issuer, or the local one. Sessions of other issuers are not valid. */
  issuer: string;
  /** Maximum time between uses. */
  idleMs: number;
  /** Absolute lifetime. */
  maxMs: number;
}

/** The conditions of a session that is live now. */
export function livenessNow({ issuer, idleMs }: Pick<SessionRules, "issuer" | "idleMs">): Liveness {
  const now = nowMicros();
  return { issuer, now, seenSince: now - idleMs * microsPerMs };
}

/** The stored session that a request's session token is checked against. */
export interface SessionRecord extends Pick<SessionsTable, "id" | "user_id" | "last_seen_at"> {
  account_id: string;
  role: Role;
}

/** Conditions of live sessions: of the current issuer, neither ended nor expired, and used recently. */
export interface Liveness {
  issuer: string;
  now: Micros;
  /** The earliest last use of a live session. */
  seenSince: Micros;
}

export async function insertSession(database: Database, row: SessionsTable) {
  await database.insertInto("sessions").values(row).execute();
}

function liveSessions(database: Database, live: Liveness) {
  return database
    .selectFrom("sessions")
    .where("issuer", "=", live.issuer)
    .where("ended_at", "is", null)
    .where("expires_at", ">", live.now)
    .where("last_seen_at", ">", live.seenSince);
}

export async function selectLiveSession(
  database: Database,
  digest: string,
  live: Liveness,
): Promise<SessionRecord | undefined> {
  return await liveSessions(database, live)
    .innerJoin("users", "users.id", "sessions.user_id")
    .select(["sessions.id", "sessions.user_id", "users.account_id", "users.role", "sessions.last_seen_at"])
    .where("digest", "=", digest)
    .executeTakeFirst();
}

/** Whether a user's session is live. */
export async function isSessionLive(database: Database, userId: string, sessionId: string, live: Liveness) {
  const session = await liveSessions(database, live)
    .select("id")
    .where("id", "=", sessionId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return session !== undefined;
}

/** A page of a user's live sessions, newest first. */
export async function selectLiveSessions(reader: Database, userId: string, live: Liveness, page: KeysetPage) {
  const query = liveSessions(reader, live)
    .select(["id", "user_agent", "created_at", "last_seen_at", "expires_at"])
    .where("user_id", "=", userId);
  return await selectNewestFirst(query, page);
}

/** Moves a session's last use forward, never back. */
export async function markSeen(database: Database, sessionId: string, seenAt: Micros) {
  await database
    .updateTable("sessions")
    .set({ last_seen_at: seenAt })
    .where("id", "=", sessionId)
    .where("last_seen_at", "<", seenAt)
    .execute();
}

export async function selectIdToken(database: Database, sessionId: string) {
  const session = await database
    .selectFrom("sessions")
    .select("id_token")
    .where("id", "=", sessionId)
    .executeTakeFirst();
  return session?.id_token ?? undefined;
}

/** Ends a user's session and returns when it ended; undefined if the user has no such session. The time of the first end is kept. */
export async function markEnded(database: Database, userId: string, sessionId: string, endedAt: Micros) {
  return await database
    .updateTable("sessions")
    .set((update) => ({
      ended_at: update.fn.coalesce("ended_at", update.val(endedAt)),
      id_token: null,
    }))
    .where("id", "=", sessionId)
    .where("user_id", "=", userId)
    .returning("ended_at")
    .executeTakeFirst();
}

/** Ends a user's unexpired sessions and returns how many. */
export async function markAllEnded(database: Database, userId: string, endedAt: Micros) {
  const { numUpdatedRows } = await database
    .updateTable("sessions")
    .set({ ended_at: endedAt, id_token: null })
    .where("user_id", "=", userId)
    .where("ended_at", "is", null)
    .where("expires_at", ">", endedAt)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

export async function insertSignInToken(database: Database, row: SignInTokensTable): Promise<void> {
  await database.insertInto("sign_in_tokens").values(row).execute();
}

/** Uses up a sign-in link's token and returns its user's id; undefined if it is unknown, used or expired. */
export async function markSignInTokenUsed(
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

/** Uses up every sign-in link of a user. */
export async function markSignInTokensUsed(
  database: Database,
  userId: string,
  usedAt: Micros,
): Promise<void> {
  await database
    .updateTable("sign_in_tokens")
    .set({ used_at: usedAt })
    .where("user_id", "=", userId)
    .where("used_at", "is", null)
    .execute();
}

const keys = { sessions: "id", sign_in_tokens: "digest" } as const;

/** Deletes some expired sessions, or tokens of sign-in links, the oldest first. */
export async function deleteExpired(
  database: Database,
  table: keyof typeof keys,
  now: Micros,
  limit: number,
): Promise<void> {
  const key = sql.ref(keys[table]);
  await sql`delete from ${sql.table(table)} where ${key} in (
    select ${key} from ${sql.table(table)} where expires_at <= ${now} order by expires_at limit ${limit}
  )`.execute(database);
}
