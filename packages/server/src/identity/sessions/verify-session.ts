import { microsPerMs } from "../../storage/micros.ts";
import type { Caller, Proof } from "../caller.ts";
import type { IdentityServices } from "../identity-services.ts";
import { livenessNow } from "./session-rules.ts";
import { markSeen, selectLiveSession } from "./sessions-store.ts";

/** How old `last_seen_at` gets before it is written again; with a short idle limit less, or it would end what is in use. */
const seenGrainMs = 60_000;
const seenGrainShare = 0.1;

export interface VerifiedSession {
  caller: Caller & { proof: Extract<Proof, { kind: "session" }> };
  csrfToken: string;
}

/** The session that `token` stands for, or undefined. The store is asked each time, so that an ended one is refused at once. */
export async function verifySession(
  { store, sessionTokens, sessionRules }: Pick<IdentityServices, "store" | "sessionTokens" | "sessionRules">,
  token: string,
): Promise<VerifiedSession | undefined> {
  const live = livenessNow(sessionRules);
  const record = await selectLiveSession(store.database, sessionTokens.digestOf(token), live);
  if (record === undefined) return undefined;
  const grainMs = Math.min(seenGrainMs, sessionRules.idleMs * seenGrainShare);
  if (record.last_seen_at <= live.now - grainMs * microsPerMs) {
    await markSeen(store.database, record.id, live.now);
  }
  return {
    caller: {
      userId: record.user_id,
      accountId: record.account_id,
      proof: { kind: "session", sessionId: record.id },
    },
    csrfToken: sessionTokens.csrfTokenOf(token),
  };
}
