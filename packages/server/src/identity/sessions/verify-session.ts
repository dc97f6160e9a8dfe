import { microsPerMs } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import type { Caller, Proof } from "../caller.ts";
import { livenessNow, type SessionRules } from "./session-rules.ts";
import type { SessionTokens } from "./session-tokens.ts";
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
  database: Database,
  tokens: SessionTokens,
  rules: Pick<SessionRules, "issuer" | "idleMs">,
  token: string,
): Promise<VerifiedSession | undefined> {
  const live = livenessNow(rules);
  const record = await selectLiveSession(database, tokens.digestOf(token), live);
  if (record === undefined) return undefined;
  const grainMs = Math.min(seenGrainMs, rules.idleMs * seenGrainShare);
  if (record.last_seen_at <= live.now - grainMs * microsPerMs) {
    await markSeen(database, record.id, live.now);
  }
  return {
    caller: {
      userId: record.user_id,
      accountId: record.account_id,
      proof: { kind: "session", sessionId: record.id },
    },
    csrfToken: tokens.csrfTokenOf(token),
  };
}
