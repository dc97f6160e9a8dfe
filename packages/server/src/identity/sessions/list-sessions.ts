import type { Database } from "../../storage/tables.ts";
import { livenessNow, type SessionRules } from "./session-rules.ts";
import { type Session, selectLiveSessions } from "./sessions-store.ts";

/** The browsers in which a user is signed in, newest first. */
export async function listSessions(
  database: Database,
  rules: Pick<SessionRules, "issuer" | "idleMs">,
  userId: string,
): Promise<Session[]> {
  return await selectLiveSessions(database, userId, livenessNow(rules));
}
