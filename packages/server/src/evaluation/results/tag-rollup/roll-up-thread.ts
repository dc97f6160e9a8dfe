import { workerData } from "node:worker_threads";
import type { Database } from "../../../storage/schema/tables.ts";
import { openSqliteWriter } from "../../../storage/sqlite/open-sqlite-database.ts";
import { serveRequests } from "../../../storage/threads/thread-requests.ts";
import { rollUpSomeTags } from "./roll-up-tags-store.ts";

// Runs in a worker: it counts results of an SQLite file by tag, so that the main thread waits neither for that nor for the disk.
let database: Database | undefined;

serveRequests<"roll up", boolean>({
  respond() {
    database ??= openSqliteWriter(workerData);
    return rollUpSomeTags(database);
  },
  async close() {
    await database?.destroy();
  },
});
