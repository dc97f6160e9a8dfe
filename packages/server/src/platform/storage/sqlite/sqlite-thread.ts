import { workerData } from "node:worker_threads";
import { serveRequests } from "../thread.ts";
import { createStatementCache, openSqliteReader, type StatementCache } from "./sqlite-file.ts";

// The entry file of a worker, which reads on its own connection so that slow statements only block this thread.
const path: string = workerData;
// Opened by the first statement: if that fails, the next statement tries again.
let opened: StatementCache | undefined;

export interface SqliteThreadStatement {
  sql: string;
  parameters: readonly unknown[];
}

serveRequests<SqliteThreadStatement, string>({
  respond({ sql, parameters }) {
    opened ??= createStatementCache(openSqliteReader(path));
    const rows = opened.prepare(sql).all(parameters);
    // Copying many objects to another thread takes several times as long as writing and parsing them as JSON, which is
    // lossless here: no column contains bytes.
    return JSON.stringify(rows);
  },
  close() {
    opened?.close();
    opened = undefined;
  },
});
