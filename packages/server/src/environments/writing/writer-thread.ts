import { workerData } from "node:worker_threads";
import type { Database } from "../../storage/schema/tables.ts";
import { openSqliteWriter } from "../../storage/sqlite/open-sqlite-database.ts";
import { serveRequests } from "../../storage/threads/thread-requests.ts";
import { applyWrites, type EpisodeWrite } from "./apply-writes.ts";

// Runs in a worker: it writes into an SQLite file what happens in episodes, so that only this thread waits for the disk.
let database: Database | undefined;

serveRequests<string, boolean[]>({
  respond(writes) {
    database ??= openSqliteWriter(workerData);
    return applyWrites(database, JSON.parse(writes) as EpisodeWrite[]);
  },
  async close() {
    await database?.destroy();
  },
});
