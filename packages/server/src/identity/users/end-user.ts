import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { markAllRevoked } from "../api-keys/api-keys-store.ts";
import { markAllEnded } from "../sessions/sessions-store.ts";
import { markAllUsed } from "../sign-in-tokens/sign-in-tokens-store.ts";
import { lockUsers } from "./users-store.ts";

/**
 * Ends a user's current access: all processes refuse the sessions at once and the keys within 5 s. The user is not deleted and can
 * sign in again if the provider allows it.
 */
export async function endUser(
  database: Database,
  userId: string,
): Promise<{ sessions: number; keys: number }> {
  return await database.transaction().execute(async (transaction) => {
    const now = nowMicros();
    await markAllUsed(transaction, userId, now);
    // Keys and sessions that are being created are either ended below or refused afterwards.
    await lockUsers(transaction, [userId]);
    const sessions = await markAllEnded(transaction, userId, now);
    const keys = await markAllRevoked(transaction, userId, now);
    return { sessions, keys };
  });
}
