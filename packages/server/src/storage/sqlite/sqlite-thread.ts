import type { Database, SQLQueryBindings } from "bun:sqlite";
import { workerData } from "node:worker_threads";
import { answerRequests } from "../serve-requests.ts";
import { openSqliteReader } from "./open-sqlite.ts";

// A worker's own file: it reads on a connection of its own, so that only this thread waits for it.
const path: string = workerData;
// Not at the start: a file that cannot be opened fails a statement, and the next one may find that it can.
let opened: Database | undefined;

export interface SqliteThreadStatement {
  sql: string;
  parameters: readonly unknown[];
}

answerRequests<SqliteThreadStatement, string>({
  answer({ sql, parameters }) {
    opened ??= openSqliteReader(path);
    const rows = opened.query(sql).all(...(parameters as SQLQueryBindings[]));
    // Copying many objects to another thread takes several times as long as writing and reading them as JSON. No column
    // of ours holds bytes, which would not survive it.
    return JSON.stringify(rows);
  },
  close() {
    opened?.close();
    opened = undefined;
  },
});
