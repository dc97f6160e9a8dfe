import { workerData } from "node:worker_threads";
import type { Database } from "../../storage/schema/tables.ts";
import { openSqliteWriter } from "../../storage/sqlite/open-sqlite-database.ts";
import { serveRequests } from "../../storage/threads/thread-requests.ts";
import { insertSteps, type NewStep } from "./episodes-store.ts";

// Runs in a worker: it writes the steps of episodes into an SQLite file, so that only this thread waits for the disk.
let database: Database | undefined;

serveRequests<string, boolean[]>({
  respond(steps) {
    database ??= openSqliteWriter(workerData);
    return insertSteps(database, JSON.parse(steps) as NewStep[]);
  },
  async close() {
    await database?.destroy();
  },
});
