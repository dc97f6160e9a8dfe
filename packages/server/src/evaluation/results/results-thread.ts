import { workerData } from "node:worker_threads";
import { answerRequests } from "../../storage/answer-requests.ts";
import { openSqliteDatabase } from "../../storage/open-sqlite-database.ts";
import type { Database } from "../../storage/tables.ts";
import type { EvaluationRecord } from "./evaluation-record.ts";
import { type Written, writeResults } from "./write-results.ts";

// A worker's own file: it writes results into an SQLite file, so that only this thread waits for the disk.
// Not opened at the start: a file that cannot be opened fails a write, and does not leave open whether it was kept.
let database: Database | undefined;

answerRequests<string, Written>({
  answer(records) {
    database ??= openSqliteDatabase(String(workerData));
    return writeResults(database, JSON.parse(records) as EvaluationRecord[]);
  },
  async close() {
    await database?.destroy();
  },
});
