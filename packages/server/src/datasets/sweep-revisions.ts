import { setTimeout as sleep } from "node:timers/promises";
import { microsPerMs, nowMicros } from "../platform/storage/micros.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { adaptBatch, firstBatchRows, pauseMs } from "./batch-size.ts";
import { deleteRevisionRow, discardAbandoned, selectDiscarded } from "./revisions-store.ts";
import { deleteSomeRows } from "./samples-store.ts";

/** An upload in progress shows every minute that it is. */
const abandonedAfterMs = 10 * 60_000;

/** Deletes the rows of deleted revisions and of abandoned uploads, a few at a time, until there are none or `signal` is aborted. */
export async function sweepRevisions(database: Database, signal: AbortSignal): Promise<void> {
  await discardAbandoned(database, nowMicros() - abandonedAfterMs * microsPerMs);
  let rows = firstBatchRows;
  for (;;) {
    const id = await selectDiscarded(database);
    if (id === undefined) return;
    for (let isMore = true; isMore; ) {
      if (signal.aborted) return;
      const startedAtMs = performance.now();
      isMore = await deleteSomeRows(database, id, rows);
      rows = adaptBatch(rows, rows, performance.now() - startedAtMs);
      await sleep(pauseMs);
    }
    await deleteRevisionRow(database, id);
  }
}
