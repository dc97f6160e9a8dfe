import { workerData } from "node:worker_threads";
import type { Database } from "../../storage/schema/tables.ts";
import { openSqliteWriter } from "../../storage/sqlite/open-sqlite-database.ts";
import { serveRequests } from "../../storage/threads/thread-requests.ts";
import type { CapturedRows } from "./captured-rows.ts";
import { insertCaptured } from "./kept-predictions-store.ts";

// Runs in a worker: it writes captured predictions into an SQLite file, so that only this thread waits for the disk.
let database: Database | undefined;

serveRequests<string, undefined>({
  async respond(rows) {
    database ??= openSqliteWriter(workerData);
    await insertCaptured(database, JSON.parse(rows) as CapturedRows);
    return undefined;
  },
  async close() {
    await database?.destroy();
  },
});
