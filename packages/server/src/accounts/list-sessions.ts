import type { KeysetPage, ListPart } from "../platform/storage/keyset.ts";
import type { Requester } from "../platform/storage/reader.ts";
import type { IdentityServices } from "./identity-services.ts";
import { livenessNow } from "./session-rules.ts";
import { type Session, selectLiveSessions } from "./sessions-store.ts";

/** The browsers in which a user is signed in, newest first. */
export async function listSessions(
  { store, sessionRules }: Pick<IdentityServices, "store" | "sessionRules">,
  requester: Requester,
  userId: string,
  page: KeysetPage,
): Promise<ListPart<Session>> {
  return await selectLiveSessions(store.briefReader(requester), userId, livenessNow(sessionRules), page);
}
