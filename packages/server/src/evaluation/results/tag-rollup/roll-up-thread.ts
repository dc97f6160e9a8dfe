import { workerData } from "node:worker_threads";
import type { Database } from "../../../storage/schema/tables.ts";
import { copyLog } from "../../../storage/sqlite/copy-log.ts";
import { openSqliteBackgroundWriter } from "../../../storage/sqlite/open-sqlite-database.ts";
import { serveRequests } from "../../../storage/threads/thread-requests.ts";
import { rollUpSomeTags } from "./roll-up-tags-store.ts";

// Runs in a worker: it counts results of an SQLite file by tag, so that the main thread waits neither for that nor for the disk.
let database: Database | undefined;

serveRequests<"roll up", boolean>({
  async respond() {
    database ??= openSqliteBackgroundWriter(workerData);
    const hasMore = await rollUpSomeTags(database);
    await copyLog(database);
    return hasMore;
  },
  async close() {
    await database?.destroy();
  },
});
