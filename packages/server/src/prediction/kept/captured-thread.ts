import { openSqliteWriter } from "../../storage/sqlite/open-sqlite-database.ts";
import { serveWrites } from "../../storage/threads/thread-requests.ts";
import type { CapturedRows } from "./captured-rows.ts";
import { insertCaptured } from "./kept-predictions-store.ts";

// Runs in a worker: it writes captured predictions.
serveWrites<string, void>(openSqliteWriter, (database, rows) =>
  insertCaptured(database, JSON.parse(rows) as CapturedRows),
);
