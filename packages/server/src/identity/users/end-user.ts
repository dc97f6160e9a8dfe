import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { markAllRevoked } from "../api-keys/api-keys-store.ts";
import { markAllEnded } from "../sessions/sessions-store.ts";
import { markAllUsed } from "../sign-in-tokens/sign-in-tokens-store.ts";
import { lockUsers } from "./users-store.ts";

/**
 * Ends all access that a user has now: their sessions are refused at once by every process, their keys within 5 s. The user
 * stays, and who can still sign in gets in again.
 */
export async function endUser(
  database: Database,
  userId: string,
): Promise<{ sessions: number; keys: number }> {
  return await database.transaction().execute(async (transaction) => {
    const now = nowMicros();
    await markAllUsed(transaction, userId, now);
    // Whatever is being added to the user's access is there before it is ended, or is refused after.
    await lockUsers(transaction, [userId]);
    const sessions = await markAllEnded(transaction, userId, now);
    const keys = await markAllRevoked(transaction, userId, now);
    return { sessions, keys };
  });
}
