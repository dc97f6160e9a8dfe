import { setTimeout as sleep } from "node:timers/promises";
import { microsPerDay, nowMicros } from "../../storage/micros.ts";
import type { Database } from "../../storage/schema/tables.ts";
import { batchPauseMs, batchRows } from "./delete-predictions.ts";
import { deleteOldest } from "./kept-predictions-store.ts";

/** Deletes the live predictions of all accounts that are older than this, a few at a time. */
export async function sweepPredictions(
  database: Database,
  maxAgeDays: number,
  signal: AbortSignal,
): Promise<void> {
  const before = nowMicros() - maxAgeDays * microsPerDay;
  for (;;) {
    if (signal.aborted) return;
    const deleted = await deleteOldest(database, { accountId: undefined, before }, batchRows);
    if (deleted < batchRows) return;
    await sleep(batchPauseMs);
  }
}
