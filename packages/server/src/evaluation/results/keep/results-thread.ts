import type { Database } from "../../../storage/schema/tables.ts";
import { openSqliteWriter } from "../../../storage/sqlite/open-sqlite-database.ts";
import { serveWrites } from "../../../storage/threads/thread-requests.ts";
import { toRecords } from "./records-as-text.ts";
import { createWriteInParts, type WriteResults, type Written } from "./write-results.ts";

// Runs in a worker: it writes results.
let writeResults: WriteResults | undefined;

serveWrites<string, Written>(openSqliteWriter, (database: Database, records) => {
  writeResults ??= createWriteInParts(database);
  return writeResults(toRecords(records));
});
