import { ServiceError } from "../../errors.ts";
import { nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/tables.ts";
import { markEnded } from "./sessions-store.ts";

/** Ends a user's session; once it returns, every process refuses it. */
export async function endSession(database: Database, userId: string, sessionId: string): Promise<void> {
  if (await markEnded(database, userId, sessionId, nowMicros())) return;
  throw new ServiceError("not_found", "There is no such session.");
}
