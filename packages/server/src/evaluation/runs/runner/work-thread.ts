import { workerData } from "node:worker_threads";
import type { Database } from "../../../storage/schema/tables.ts";
import { openSqliteWriter } from "../../../storage/sqlite/open-sqlite-database.ts";
import { serveRequests } from "../../../storage/threads/thread-requests.ts";
import { type RunWork, storeWork } from "../run-work-store.ts";

// Runs in a worker: it writes what was done for runs into an SQLite file.
let database: Database | undefined;

serveRequests<string, boolean>({
  respond(work) {
    database ??= openSqliteWriter(workerData);
    return storeWork(database, JSON.parse(work) as RunWork);
  },
  async close() {
    await database?.destroy();
  },
});
