import { microsPerMs, nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { holdUsers } from "../users/users-store.ts";
import type { SessionRules } from "./session-rules.ts";
import type { SessionTokens } from "./session-tokens.ts";
import { deleteExpiredSessions, insertSession, markEnded } from "./sessions-store.ts";

const maxUserAgentLength = 200;
/** More than one, so that the table shrinks after a busy time. */
const clearedAtOnce = 20;

/** The browser that is signed in. */
export interface SessionBrowser {
  userAgent: string | null;
  /** The session that it had, which ends. */
  earlier: { userId: string; sessionId: string } | undefined;
}

/** Who signs in. */
export interface SignedIn {
  userId: string;
  idToken: string | null;
}

/**
 * Signs a user in and returns the token for their browser, which is not kept anywhere. `admit` says who it is, or rejects,
 * in the same transaction.
 */
export async function startSession(
  database: Database,
  tokens: SessionTokens,
  { issuer, maxMs }: Pick<SessionRules, "issuer" | "maxMs">,
  admit: (transaction: Database) => Promise<SignedIn>,
  { userAgent, earlier }: SessionBrowser,
): Promise<string> {
  const token = tokens.generate();
  const now = nowMicros();
  await database.transaction().execute(async (transaction) => {
    const { userId, idToken } = await admit(transaction);
    await holdUsers(transaction, earlier === undefined ? [userId] : [userId, earlier.userId]);
    await insertSession(transaction, {
      id: Bun.randomUUIDv7(),
      user_id: userId,
      issuer,
      digest: tokens.digestOf(token),
      user_agent: userAgent?.slice(0, maxUserAgentLength) ?? null,
      id_token: idToken,
      created_at: now,
      last_seen_at: now,
      expires_at: now + maxMs * microsPerMs,
      ended_at: null,
    });
    if (earlier !== undefined) await markEnded(transaction, earlier.userId, earlier.sessionId, now);
  });
  // What cannot be cleared away now is cleared away by a later one.
  await deleteExpiredSessions(database, now, clearedAtOnce).catch(() => {});
  return token;
}
