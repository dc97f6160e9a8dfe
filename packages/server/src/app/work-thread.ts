import { openSqliteWriter } from "../platform/storage/sqlite.ts";
import { serveWrites } from "../platform/storage/thread.ts";
import { type RunWork, storeWork } from "../runs/runner/work-store.ts";

// Runs in a worker: it writes what was done for runs.
serveWrites<string, boolean>(openSqliteWriter, (database, work) =>
  storeWork(database, JSON.parse(work) as RunWork),
);
