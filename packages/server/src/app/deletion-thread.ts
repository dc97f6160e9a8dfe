import type { DeletedBatch } from "../platform/storage/delete-in-batches.ts";
import { copyLog, openSqliteBackgroundWriter } from "../platform/storage/sqlite.ts";
import { serveWrites } from "../platform/storage/thread.ts";
import { type DeletionStep, type Place, takeDeletionStep } from "./deletions.ts";

// Runs in a worker: it deletes what is too old or chosen.
serveWrites<DeletionStep, DeletedBatch<Place>>(openSqliteBackgroundWriter, async (database, step) => {
  const batch = await takeDeletionStep(database, step);
  if (batch.heldMs > 0) await copyLog(database);
  return batch;
});
