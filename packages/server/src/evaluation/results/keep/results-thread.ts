import { workerData } from "node:worker_threads";
import type { Database } from "../../../storage/schema/tables.ts";
import { openSqliteWriter } from "../../../storage/sqlite/open-sqlite-database.ts";
import { serveRequests } from "../../../storage/threads/thread-requests.ts";
import { toRecords } from "./records-as-text.ts";
import type { WriteResults, Written } from "./write-results.ts";
import { createWriteInParts } from "./write-results.ts";

// Runs in a worker: it writes results into an SQLite file, so that only this thread waits for the disk.
// Opened by the first write: if the file cannot be opened, that write fails, and it is certain that nothing was stored.
let opened: { database: Database; writeResults: WriteResults } | undefined;

serveRequests<string, Written>({
  respond(records) {
    opened ??= open();
    return opened.writeResults(toRecords(records));
  },
  async close() {
    await opened?.database.destroy();
  },
});

function open() {
  const database = openSqliteWriter(workerData);
  return { database, writeResults: createWriteInParts(database) };
}
