import { microsPerMs, nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/tables.ts";
import type { SessionRules } from "./session-rules.ts";
import type { SessionTokens } from "./session-tokens.ts";
import { deleteExpiredSessions, insertSession } from "./sessions-store.ts";

const maxUserAgentLength = 200;
/** More than one, so that the table shrinks after a busy time. */
const clearedAtOnce = 20;

export interface NewSession {
  userId: string;
  userAgent: string | null;
  idToken: string | null;
}

/** Signs a user in and returns the token for their browser. It is not kept anywhere. */
export async function startSession(
  database: Database,
  tokens: SessionTokens,
  { issuer, maxMs }: Pick<SessionRules, "issuer" | "maxMs">,
  { userId, userAgent, idToken }: NewSession,
): Promise<string> {
  const token = tokens.generate();
  const now = nowMicros();
  await insertSession(database, {
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
  // What cannot be cleared away now is cleared away by a later one.
  await deleteExpiredSessions(database, now, clearedAtOnce).catch(() => {});
  return token;
}
