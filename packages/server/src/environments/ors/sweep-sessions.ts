import { microsPerMs, nowMicros } from "../../platform/storage/micros.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { deleteOldSessions } from "./ors-sessions-store.ts";

/** Long after it has ended. */
const keptMs = 24 * 3_600_000;
/** What one statement deletes: others write meanwhile. */
const sessionsAtOnce = 1_000;

/** Deletes sessions that ended long ago. Their episodes stay. */
export async function sweepSessions(database: Database, signal: AbortSignal): Promise<void> {
  const before = nowMicros() - keptMs * microsPerMs;
  while (!signal.aborted && (await deleteOldSessions(database, before, sessionsAtOnce)));
}
