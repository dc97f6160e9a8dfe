import { openSqliteWriter } from "../platform/storage/sqlite.ts";
import { serveWrites } from "../platform/storage/thread.ts";
import type { CapturedRows } from "../predictions/captured-rows.ts";
import { insertCaptured } from "../predictions/stored-predictions-store.ts";

// Runs in a worker: it writes captured predictions.
serveWrites<string, void>(openSqliteWriter, (database, rows) =>
  insertCaptured(database, JSON.parse(rows) as CapturedRows),
);
