import { openSqliteWriter } from "../../../storage/sqlite/open-sqlite-database.ts";
import { serveWrites } from "../../../storage/threads/thread-requests.ts";
import { type RunWork, storeWork } from "../run-work-store.ts";

// Runs in a worker: it writes what was done for runs.
serveWrites<string, boolean>(openSqliteWriter, (database, work) =>
  storeWork(database, JSON.parse(work) as RunWork),
);
