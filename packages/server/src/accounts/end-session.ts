import { ServiceError } from "../platform/errors.ts";
import { recordChange } from "../platform/record-change.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import { type AccessChanger, auditOf, changeAccess } from "./change-access.ts";
import type { IdentityServices } from "./identity-services.ts";
import { markEnded, selectIdToken } from "./sessions-store.ts";

/** Ends one of the caller's sessions. All processes refuse it at once. */
export async function endSession(
  services: Pick<IdentityServices, "store" | "sessionRules">,
  changer: AccessChanger,
  sessionId: string,
): Promise<void> {
  const isEnded = await changeAccess(services, changer, async (transaction) => {
    const endedAt = nowMicros();
    const session = await markEnded(transaction, changer.caller.userId, sessionId, endedAt);
    // Ending it again changes nothing.
    if (session?.ended_at === endedAt)
      await recordChange(transaction, auditOf(changer), { action: "session.end", objectId: sessionId });
    return session !== undefined;
  });
  if (!isEnded) throw new ServiceError("not_found", "There is no such session.");
}

/** Ends the caller's own session. Returns the identity provider's sign-out address, if it has one. */
export async function signOut(
  services: Pick<IdentityServices, "store" | "sessionRules" | "openidProvider">,
  changer: AccessChanger,
  sessionId: string,
): Promise<string | undefined> {
  const { store, openidProvider } = services;
  const idToken = openidProvider && (await selectIdToken(store.database, sessionId));
  await endSession(services, changer, sessionId);
  return (await openidProvider?.endSessionAddress(idToken))?.href;
}
