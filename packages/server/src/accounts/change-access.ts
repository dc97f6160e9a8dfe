import type { Need } from "@presage/contract";
import { type AccessChanger, type Caller, checkAccess, notAuthenticated } from "../http/caller.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Store } from "../platform/storage/store.ts";
import { isKeyLive } from "./api-keys-store.ts";
import { isSessionLive, livenessNow, type SessionRules } from "./sessions-store.ts";
import { lockUsers, selectUser } from "./users-store.ts";
import type { KeyVerifier } from "./verify-api-key.ts";

export interface AccessServices {
  store: Store;
  sessionRules: SessionRules;
}

/** What changes of keys need: processes that know a changed key forget it. */
export interface KeyChangeServices extends AccessServices {
  keyVerifier: KeyVerifier;
  forgetKeyElsewhere(digest: string): Promise<void>;
}

/** Runs a change of the caller's access in a transaction that first checks that the caller still has access. */
export async function changeAccess<Result>(
  services: AccessServices,
  changer: AccessChanger,
  change: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  return await accessWriter(services, changer)
    .transaction()
    .execute(async (transaction) => {
      await lockCaller(transaction, services.sessionRules, changer.caller);
      return await change(transaction);
    });
}

/** The database for changes of access. The user's row is locked, so users take turns, not accounts. */
export function accessWriter({ store }: { store: Store }, { caller, signal }: AccessChanger): Database {
  return store.writer({ accountId: caller.userId, signal });
}

/**
 * Refuses a caller whose key or session has ended, even if a cache still accepts it, and locks the user until the
 * transaction ends. Otherwise revoked access could renew itself.
 */
export async function lockCaller(
  transaction: Database,
  rules: Pick<SessionRules, "issuer" | "idleMs">,
  { userId, proof }: Caller,
): Promise<void> {
  // The user and not the key: calls that end each other's keys queue up instead of deadlocking.
  await lockUsers(transaction, [userId]);
  const live = livenessNow(rules);
  const isLive =
    proof.kind === "key"
      ? await isKeyLive(transaction, userId, proof.keyId, live.now)
      : proof.kind === "session" && (await isSessionLive(transaction, userId, proof.sessionId, live));
  if (!isLive) throw notAuthenticated();
}

/** Checks the role that a caller has now: a cache may still say that they are an owner, or in this account. */
export async function checkRoleNow(transaction: Database, caller: Caller, need: Need): Promise<void> {
  const self = await selectUser(transaction, caller.userId);
  const role = self?.account_id === caller.accountId ? self.role : "viewer";
  checkAccess({ role, proof: caller.proof }, need);
}
