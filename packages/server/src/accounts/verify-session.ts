import type { Caller, Proof } from "../http/caller.ts";
import { microsPerMs } from "../platform/storage/micros.ts";
import type { IdentityServices } from "./identity-services.ts";
import { livenessNow } from "./session-rules.ts";
import { markSeen, selectLiveSession } from "./sessions-store.ts";

/** `last_seen_at` is written again when it is older than this; less with a short idle limit, or sessions in use would end. */
const seenPrecisionMs = 60_000;
const seenPrecisionShare = 0.1;

export interface VerifiedSession {
  caller: Caller & { proof: Extract<Proof, { kind: "session" }> };
  csrfToken: string;
}

/** The session of a token, or undefined. Looked up each time, so that ended sessions are refused at once. */
export async function verifySession(
  { store, sessionTokens, sessionRules }: Pick<IdentityServices, "store" | "sessionTokens" | "sessionRules">,
  token: string,
): Promise<VerifiedSession | undefined> {
  const live = livenessNow(sessionRules);
  const record = await selectLiveSession(store.database, sessionTokens.digestOf(token), live);
  if (record === undefined) return undefined;
  const precisionMs = Math.min(seenPrecisionMs, sessionRules.idleMs * seenPrecisionShare);
  if (record.last_seen_at <= live.now - precisionMs * microsPerMs) {
    await markSeen(store.database, record.id, live.now);
  }
  return {
    caller: {
      userId: record.user_id,
      accountId: record.account_id,
      role: record.role,
      proof: { kind: "session", sessionId: record.id },
    },
    csrfToken: sessionTokens.csrfTokenOf(token),
  };
}
