import { workerData } from "node:worker_threads";
import { answerRequests } from "../../storage/answer-requests.ts";
import { openSqliteDatabase } from "../../storage/open-sqlite-database.ts";
import type { EvaluationRecord } from "./evaluation-record.ts";
import { createWriteInParts } from "./write-in-parts.ts";
import type { Written } from "./write-results.ts";

// A worker's own file: it writes results into an SQLite file, so that only this thread waits for the disk.
const database = openSqliteDatabase(String(workerData));
const writeResults = createWriteInParts(database);

answerRequests<string, Written>({
  answer: (records) => writeResults(JSON.parse(records) as EvaluationRecord[]),
  close: () => database.destroy(),
});
