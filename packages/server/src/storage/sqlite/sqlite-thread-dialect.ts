import type { Worker } from "node:worker_threads";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import { orAborted, withDeadline } from "../../limits/deadline.ts";
import { storeUnavailable } from "../store-error.ts";
import { takeTurns } from "../take-turns.ts";
import type { SqliteThreadStatement } from "./sqlite-thread.ts";
import { type ThreadClient, threadClient } from "./thread-client.ts";

/** Its answers are rows as JSON. */
type SqliteThread = ThreadClient<SqliteThreadStatement, string>;

/**
 * Kysely's SQLite dialect over one connection on a thread of its own that only reads, so that no slow statement holds up
 * this one. The thread starts with the first statement, and anew after it died. A statement that takes longer than `timeoutMs`
 * fails.
 */
export function sqliteThreadDialect(startWorker: () => Worker, timeoutMs: number): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => sqliteThreadDriver(startWorker, timeoutMs),
    createIntrospector: (database) => new SqliteIntrospector(database),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

function sqliteThreadDriver(startWorker: () => Worker, timeoutMs: number): Driver {
  const nextTurn = takeTurns();
  /** Resolves once no thread is left that was given up and still runs. */
  let noneLeftBehind: Promise<unknown> = Promise.resolve();
  /** Resolves once one at the most is: with more of them the next thread would take the processors from the rest. */
  let mayStart: Promise<unknown> = Promise.resolve();
  const releases = new WeakMap<DatabaseConnection, () => void>();
  let thread: SqliteThread | undefined;

  async function runningThread(): Promise<SqliteThread> {
    if (thread === undefined || thread.hasEnded()) {
      const waiting = { timeoutMs, timeoutError: statementTimedOut };
      await withDeadline(waiting, (signal) => orAborted(mayStart, signal));
      thread = threadClient(startWorker());
    }
    return thread;
  }

  /** Nothing stops a statement from outside, so its thread is left to end by itself, and the next statement has another. */
  async function askInTime(asked: SqliteThread, statement: SqliteThreadStatement): Promise<string> {
    const answer = asked.ask(statement);
    const overdue = setTimeout(() => {
      mayStart = noneLeftBehind;
      noneLeftBehind = Promise.all([mayStart, asked.giveUp(statementTimedOut(timeoutMs))]);
    }, timeoutMs);
    return await answer.finally(() => clearTimeout(overdue));
  }

  return {
    async init() {},
    async acquireConnection() {
      const release = await nextTurn();
      try {
        const connection = connectionOn(await runningThread(), askInTime);
        releases.set(connection, release);
        return connection;
      } catch (error) {
        release();
        throw error;
      }
    },
    async releaseConnection(connection) {
      releases.get(connection)?.();
    },
    beginTransaction: (connection) => runBare(connection, "begin"),
    commitTransaction: (connection) => runBare(connection, "commit"),
    rollbackTransaction: (connection) => runBare(connection, "rollback"),
    async destroy() {
      // Kysely asks for no connection after this one, so the turn need not end.
      await nextTurn();
      await thread?.end();
    },
  };
}

/** Stays on its thread even if that dies: the rest of a transaction must fail, not run outside of it on the next thread. */
function connectionOn(
  thread: SqliteThread,
  ask: (thread: SqliteThread, statement: SqliteThreadStatement) => Promise<string>,
): DatabaseConnection {
  return {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      return { rows: JSON.parse(await ask(thread, { sql, parameters })) as Row[] };
    },
    streamQuery() {
      throw new Error("A statement on a thread answers with all its rows at once");
    },
  };
}

function statementTimedOut(timeoutMs: number): Error {
  return storeUnavailable(new Error(`A statement took longer than ${timeoutMs} ms`));
}

async function runBare(connection: DatabaseConnection, sql: string): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(sql));
}
