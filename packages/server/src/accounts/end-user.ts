import type { Changer } from "../platform/actor.ts";
import { recordChange } from "../platform/record-change.ts";
import { nowMicros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { markAllRevoked } from "./api-keys-store.ts";
import { markAllEnded } from "./sessions-store.ts";
import { markAllUsed } from "./sign-in-tokens-store.ts";
import { lockUsers } from "./users-store.ts";

/**
 * Ends a user's current access: all processes refuse the sessions at once and the keys within 5 s. The user is not deleted and can
 * sign in again if the provider allows it.
 */
export async function endUser(
  database: Database,
  changer: Pick<Changer, "accountId" | "actor">,
  userId: string,
): Promise<{ sessions: number; keys: number }> {
  return await database.transaction().execute((transaction) => endUserIn(transaction, changer, userId));
}

/** The same in a transaction that changes more. */
export async function endUserIn(
  transaction: Database,
  changer: Pick<Changer, "accountId" | "actor">,
  userId: string,
): Promise<{ sessions: number; keys: number }> {
  const now = nowMicros();
  await markAllUsed(transaction, userId, now);
  // Keys and sessions that are being created are either ended below or refused afterwards.
  await lockUsers(transaction, [userId]);
  const sessions = await markAllEnded(transaction, userId, now);
  const keys = await markAllRevoked(transaction, userId, now);
  const change = { action: "user.end_access", objectId: userId, detail: { sessions, keys } } as const;
  await recordChange(transaction, changer, change);
  return { sessions, keys };
}
