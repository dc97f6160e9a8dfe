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

/** The services that changes to keys need: every process must forget a changed key. */
export interface KeyChangeServices extends AccessServices {
  keyVerifier: KeyVerifier;
  forgetKeyElsewhere(digest: string): Promise<void>;
}

/** Runs a change to access in a transaction that first checks that the caller still has access. */
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

/** The database for changes to access. Users take turns rather than accounts, since the user's row is locked. */
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
  // Locks the user rather than the key: calls that revoke each other's keys then queue up instead of deadlocking.
  await lockUsers(transaction, [userId]);
  const live = livenessNow(rules);
  const isLive =
    proof.kind === "key"
      ? await isKeyLive(transaction, userId, proof.keyId, live.now)
      : proof.kind === "session" && (await isSessionLive(transaction, userId, proof.sessionId, live));
  if (!isLive) throw notAuthenticated();
}

/** Checks the caller's current role: a cache may still call them an owner, or a member of this account. */
export async function checkRoleNow(transaction: Database, caller: Caller, need: Need): Promise<void> {
  const self = await selectUser(transaction, caller.userId);
  const role = self?.account_id === caller.accountId ? self.role : "viewer";
  checkAccess({ role, proof: caller.proof }, need);
}
