import { workerData } from "node:worker_threads";
import type { Database } from "../../storage/schema/tables.ts";
import { copyLog } from "../../storage/sqlite/copy-log.ts";
import { openSqliteBackgroundWriter } from "../../storage/sqlite/open-sqlite-database.ts";
import { serveRequests } from "../../storage/threads/thread-requests.ts";
import { type DeletionStep, takeDeletionStep } from "./deletion-step.ts";

// Runs in a worker: it deletes from an SQLite file, so that the main thread waits neither for that nor for the disk.
let database: Database | undefined;

serveRequests<DeletionStep, Awaited<ReturnType<typeof takeDeletionStep>>>({
  async respond(step) {
    database ??= openSqliteBackgroundWriter(workerData);
    const batch = await takeDeletionStep(database, step);
    if (batch.heldMs > 0) await copyLog(database);
    return batch;
  },
  async close() {
    await database?.destroy();
  },
});
