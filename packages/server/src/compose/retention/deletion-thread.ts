import { copyLog } from "../../storage/sqlite/copy-log.ts";
import { openSqliteBackgroundWriter } from "../../storage/sqlite/open-sqlite-database.ts";
import { serveWrites } from "../../storage/threads/thread-requests.ts";
import type { DeletedBatch } from "../../storage/writing/delete-in-batches.ts";
import { type DeletionStep, type Place, takeDeletionStep } from "./deletion-step.ts";

// Runs in a worker: it deletes what is too old or chosen.
serveWrites<DeletionStep, DeletedBatch<Place>>(openSqliteBackgroundWriter, async (database, step) => {
  const batch = await takeDeletionStep(database, step);
  if (batch.heldMs > 0) await copyLog(database);
  return batch;
});
