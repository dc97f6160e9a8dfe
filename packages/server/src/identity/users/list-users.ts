import type { Database } from "../../storage/schema/tables.ts";
import { livenessNow, type SessionRules } from "../sessions/session-rules.ts";
import { selectUsersAccess, type UserAccess } from "./users-access-store.ts";

/** Everybody who ever signed in, and the owner. */
export async function listUsers(
  database: Database,
  rules: Pick<SessionRules, "issuer" | "idleMs">,
): Promise<UserAccess[]> {
  return await selectUsersAccess(database, livenessNow(rules));
}
