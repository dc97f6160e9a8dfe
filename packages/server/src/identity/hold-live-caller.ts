import type { Database } from "../storage/tables.ts";
import { holdLiveKey } from "./api-keys/api-keys-store.ts";
import type { Caller } from "./caller.ts";
import { notAuthenticated } from "./not-authenticated.ts";
import { livenessNow, type SessionRules } from "./sessions/session-rules.ts";
import { holdLiveSession } from "./sessions/sessions-store.ts";
import { holdUser } from "./users-store.ts";

/** Makes sure, in the transaction that changes a user's access, that whoever asks still may. Rejects if not. */
export type Hold = (transaction: Database) => Promise<void>;

/**
 * Refuses a caller whose key or session has ended, even if a cache still believes it, and keeps both it and the user's
 * access as they are until the transaction ends. Without it, access that was ended could renew itself.
 */
export async function holdLiveCaller(
  transaction: Database,
  rules: Pick<SessionRules, "issuer" | "idleMs">,
  { userId, proof }: Caller,
): Promise<void> {
  // The user first, always: calls that end each other's keys then wait in a line, not in a circle.
  await holdUser(transaction, userId);
  const live = livenessNow(rules);
  const isLive =
    proof.kind === "key"
      ? await holdLiveKey(transaction, userId, proof.keyId, live.now)
      : await holdLiveSession(transaction, userId, proof.sessionId, live);
  if (!isLive) throw notAuthenticated();
}
