import type { Database, SQLQueryBindings } from "bun:sqlite";
import { workerData } from "node:worker_threads";
import { answerRequests } from "./answer-requests.ts";
import { openSqlite } from "./open-sqlite.ts";
import type { SqliteThreadResult, SqliteThreadStatement } from "./sqlite-thread-messages.ts";

// A worker's own file: it runs one connection's statements, so that only this thread waits for them.
const path: string = workerData;
let opened: Database | undefined;

answerRequests<SqliteThreadStatement, SqliteThreadResult>({
  answer({ sql, parameters }) {
    opened ??= open();
    const statement = opened.query(sql);
    const bindings = parameters as SQLQueryBindings[];
    if (statement.columnNames.length > 0) return { rows: statement.all(...bindings) };
    statement.run(...bindings);
    return { rows: [] };
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
