import type { Database } from "../storage/schema/tables.ts";
import { isKeyLive } from "./api-keys/api-keys-store.ts";
import type { Caller } from "./caller.ts";
import { notAuthenticated } from "./not-authenticated.ts";
import { livenessNow, type SessionRules } from "./sessions/session-rules.ts";
import { isSessionLive } from "./sessions/sessions-store.ts";
import { holdUsers } from "./users/users-store.ts";

/** Makes sure, in the transaction that changes a user's access, that whoever asks still may. Rejects if not. */
export type Hold = (transaction: Database) => Promise<void>;

/**
 * Refuses a caller whose key or session has ended, even if a cache still believes it, and keeps all of the user's access as
 * it is until the transaction ends. Without it, access that was ended could renew itself.
 */
export async function holdLiveCaller(
  transaction: Database,
  rules: Pick<SessionRules, "issuer" | "idleMs">,
  { userId, proof }: Caller,
): Promise<void> {
  // The user and not the key: calls that end each other's keys wait in a line, not in a circle.
  await holdUsers(transaction, [userId]);
  const live = livenessNow(rules);
  const isLive =
    proof.kind === "key"
      ? await isKeyLive(transaction, userId, proof.keyId, live.now)
      : await isSessionLive(transaction, userId, proof.sessionId, live);
  if (!isLive) throw notAuthenticated();
}
