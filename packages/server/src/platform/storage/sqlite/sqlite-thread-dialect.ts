import { Worker } from "node:worker_threads";
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
import { type ThreadClient, threadClient } from "../thread.ts";
import type { SqliteThreadStatement } from "./sqlite-thread.ts";

/** Its results are rows as JSON. */
type SqliteThread = ThreadClient<SqliteThreadStatement, string>;

/** A thread that reads the SQLite file at `path`. */
export function startSqliteWorker(path: string): Worker {
  return new Worker(new URL("./sqlite-thread.ts", import.meta.url), { workerData: path });
}

/**
 * Kysely's SQLite dialect over one read-only connection in a thread of its own, so that slow statements do not block the calling
 * thread. The thread starts with the first statement, and again if it died. Statements fail after `timeoutMs`.
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
  /** Resolves once no abandoned thread is running. */
  let noneAbandoned: Promise<unknown> = Promise.resolve();
  /** Resolves when at most one is: with more of them, the next thread would take processors away from the server. */
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

  /** A running statement cannot be stopped, so its thread is abandoned until it ends, and the next statement gets another. */
  async function sendInTime(busy: SqliteThread, statement: SqliteThreadStatement): Promise<string> {
    const response = busy.send(statement);
    const overdue = setTimeout(() => {
      mayStart = noneAbandoned;
      noneAbandoned = Promise.all([mayStart, busy.abandon(statementTimedOut(timeoutMs))]);
    }, timeoutMs);
    return await response.finally(() => clearTimeout(overdue));
  }

  return {
    async init() {},
    async acquireConnection() {
      const release = await nextTurn();
      try {
        const connection = connectionOn(await runningThread(), sendInTime);
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
      // Kysely acquires no connection after this, so the turn need not end.
      await nextTurn();
      await thread?.end();
    },
  };
}

/** Stays on its thread even if that dies: the rest of a transaction must fail instead of running on the next thread. */
function connectionOn(
  thread: SqliteThread,
  send: (thread: SqliteThread, statement: SqliteThreadStatement) => Promise<string>,
): DatabaseConnection {
  return {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      return { rows: JSON.parse(await send(thread, { sql, parameters })) as Row[] };
    },
    streamQuery() {
      throw new Error("Statements on a thread return all their rows at once; streaming is not supported");
    },
  };
}

function statementTimedOut(timeoutMs: number): Error {
  return storeUnavailable(new Error(`A statement took longer than ${timeoutMs} ms`));
}

async function runBare(connection: DatabaseConnection, sql: string): Promise<void> {
  await connection.executeQuery(CompiledQuery.raw(sql));
}

/** Resolves when everyone who asked earlier has called the function that they received. */
function takeTurns(): () => Promise<() => void> {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    const turn = Promise.withResolvers<void>();
    last = turn.promise;
    await before;
    return turn.resolve;
  };
}
