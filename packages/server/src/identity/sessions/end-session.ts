import { ServiceError } from "../../errors.ts";
import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import type { Hold } from "../hold-live-caller.ts";
import { markEnded } from "./sessions-store.ts";

/** Ends a user's session; once it returns, every process refuses it. */
export async function endSession(
  database: Database,
  hold: Hold,
  userId: string,
  sessionId: string,
): Promise<void> {
  const isEnded = await database.transaction().execute(async (transaction) => {
    await hold(transaction);
    return await markEnded(transaction, userId, sessionId, nowMicros());
  });
  if (!isEnded) throw new ServiceError("not_found", "There is no such session.");
}
