import { workerData } from "node:worker_threads";
import type { Database } from "../../storage/schema/tables.ts";
import { openSqliteWriter } from "../../storage/sqlite/open-sqlite-database.ts";
import { serveRequests } from "../../storage/threads/thread-requests.ts";
import { type DeletionStep, takeDeletionStep } from "./deletion-step.ts";

// Runs in a worker: it deletes from an SQLite file, so that the main thread waits neither for that nor for the disk.
let database: Database | undefined;

serveRequests<DeletionStep, Awaited<ReturnType<typeof takeDeletionStep>>>({
  respond(step) {
    database ??= openSqliteWriter(workerData);
    return takeDeletionStep(database, step);
  },
  async close() {
    await database?.destroy();
  },
});
