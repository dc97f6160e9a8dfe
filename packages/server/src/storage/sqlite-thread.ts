import type { Database, SQLQueryBindings } from "bun:sqlite";
import { workerData } from "node:worker_threads";
import { answerRequests } from "./answer-requests.ts";
import { openSqlite } from "./open-sqlite.ts";

// A worker's own file: it reads on a connection of its own, so that only this thread waits for it.
const path: string = workerData;
// Not at the start: a file that cannot be opened fails a statement, and the next one may find that it can.
let opened: Database | undefined;

export interface SqliteThreadStatement {
  sql: string;
  parameters: readonly unknown[];
}

answerRequests<SqliteThreadStatement, unknown[]>({
  answer({ sql, parameters }) {
    opened ??= open();
    return opened.query(sql).all(...(parameters as SQLQueryBindings[]));
  },
  close() {
    opened?.close();
    opened = undefined;
  },
});

function open(): Database {
  const database = openSqlite(path);
  database.run("PRAGMA query_only = ON");
  return database;
}
