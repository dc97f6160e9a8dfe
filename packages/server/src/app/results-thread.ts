import type { Database } from "../platform/storage/schema/tables.ts";
import { openSqliteWriter } from "../platform/storage/sqlite.ts";
import { serveWrites } from "../platform/storage/thread.ts";
import {
  createWriteInParts,
  toRecords,
  type WriteResults,
  type Written,
} from "../results/write/write-results.ts";

// Runs in a worker: it writes results.
let writeResults: WriteResults | undefined;

serveWrites<string, Written>(openSqliteWriter, (database: Database, records) => {
  writeResults ??= createWriteInParts(database);
  return writeResults(toRecords(records));
});
