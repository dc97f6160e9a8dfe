import type { Database } from "../../storage/tables.ts";
import { liveSince, type SessionLimits } from "./session-limits.ts";
import { type Session, selectLiveSessions } from "./sessions-store.ts";

/** The browsers in which a user is signed in, newest first. */
export async function listSessions(
  database: Database,
  limits: Pick<SessionLimits, "idleMs">,
  userId: string,
): Promise<Session[]> {
  return await selectLiveSessions(database, userId, liveSince(limits));
}
