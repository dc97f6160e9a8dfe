import type { KeysetPage, ListPart } from "../../storage/keyset.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { livenessNow, type SessionRules } from "./session-rules.ts";
import { type Session, selectLiveSessions } from "./sessions-store.ts";

/** The browsers in which a user is signed in, newest first. */
export async function listSessions(
  reader: Database,
  rules: Pick<SessionRules, "issuer" | "idleMs">,
  userId: string,
  page: KeysetPage,
): Promise<ListPart<Session>> {
  return await selectLiveSessions(reader, userId, livenessNow(rules), page);
}
