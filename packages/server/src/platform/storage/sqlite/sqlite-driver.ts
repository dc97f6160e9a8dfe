import type { Database as BunDatabase } from "bun:sqlite";
import { Worker } from "node:worker_threads";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from "kysely";
import pRetry from "p-retry";
import { orAborted, withDeadline } from "../../limits/deadline.ts";
import { isDatabaseLocked, isDiskFailure, storeUnavailable, storeUncertain } from "../store-error.ts";
import { type ThreadClient, threadClient } from "../thread.ts";
import { createStatementCache, type StatementCache, type WriteTurn } from "./sqlite-file.ts";
import type { SqliteThreadStatement } from "./sqlite-thread.ts";

/** How long a statement waits for another process to finish its write. */
const patienceMs = 5_000;
/** Even a process that writes a lot regularly leaves the file alone for longer than this. */
const maxPauseMs = 10;

/**
 * Kysely's driver, with transactions that take the write lock at their start. Waits for locks of other processes by retrying
 * statements instead of inside SQLite, so that the thread stays free. After a timeout, statements queued behind it are tried
 * only once: otherwise the last of them would wait for minutes.
 */
class RetryingSqliteDriver extends SqliteDriver {
  readonly #database: BunDatabase;
  readonly #onSuccess: () => void;
  readonly #turn: WriteTurn | undefined;
  #connection: DatabaseConnection | undefined;
  #gaveUpAtMs = Number.NEGATIVE_INFINITY;
  #isPatient = true;

  constructor(database: BunDatabase, onSuccess: () => void, turn?: WriteTurn) {
    const statements = createStatementCache(database);
    const prepare = (sql: string) => withUncertainCommits(database, statements, sql);
    super({ database: { prepare, close: statements.close } });
    this.#database = database;
    this.#onSuccess = onSuccess;
    this.#turn = turn;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const startedAtMs = performance.now();
    const connection = await super.acquireConnection();
    this.#isPatient = startedAtMs > this.#gaveUpAtMs;
    // Kysely's driver returns the same connection each time.
    this.#connection ??= this.#makePatient(connection);
    return this.#connection;
  }

  #makePatient(connection: DatabaseConnection): DatabaseConnection {
    const executeQuery = connection.executeQuery.bind(connection);
    connection.executeQuery = async <Row>(...args: Parameters<typeof executeQuery>) => {
      // Kysely's driver throws synchronously.
      const execute = async () => await executeQuery<Row>(...args);
      try {
        const result = await execute().catch((error: unknown) => this.#retry(error, execute));
        this.#onSuccess();
        return result;
      } catch (error) {
        if (isDatabaseLocked(error)) this.#gaveUpAtMs = performance.now();
        throw error;
      }
    };
    return connection;
  }

  async #retry<Result>(error: unknown, execute: () => Promise<Result>): Promise<Result> {
    if (!(this.#isPatient && isDatabaseLocked(error))) throw error;
    return await pRetry(execute, {
      retries: Number.POSITIVE_INFINITY,
      maxRetryTime: patienceMs,
      minTimeout: 5,
      maxTimeout: maxPauseMs,
      randomize: true,
      shouldRetry: (failure) => isDatabaseLocked(failure.error),
    });
  }

  /** Takes the write lock: a transaction that reads first fails when it writes, if another process wrote in between. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    this.#turn?.take();
    try {
      await connection.executeQuery(CompiledQuery.raw("begin immediate"));
    } catch (error) {
      this.#turn?.give();
      throw error;
    }
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await super
      .commitTransaction(connection)
      .catch(throwUncertain)
      .finally(() => this.#turn?.give());
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    try {
      // SQLite has rolled back by itself if the disk was full, for example. A failing rollback would mask the original error.
      if (this.#database.inTransaction) await super.rollbackTransaction(connection);
    } finally {
      this.#turn?.give();
    }
  }
}

const isRead = /^\s*(select|with|pragma)\b/i;

function withUncertainCommits(
  database: BunDatabase,
  { prepare }: StatementCache,
  sql: string,
): SqliteStatement {
  const { reader, all, run, iterate } = prepare(sql);
  const commitsByItself = !(database.inTransaction || isRead.test(sql));

  function confirmed<Result>(execute: () => Result): Result {
    try {
      return execute();
    } catch (error) {
      if (commitsByItself) throwUncertain(error);
      throw error;
    }
  }
  return {
    reader,
    all: (parameters) => confirmed(() => all(parameters)),
    run: (parameters) => confirmed(() => run(parameters)),
    iterate,
  };
}

/** When the disk fails during a commit, the next process that opens the file may still find the changes. */
function throwUncertain(error: unknown): never {
  throw isDiskFailure(error) ? storeUncertain(error) : error;
}

/** Kysely's SQLite dialect over Bun's driver, on the calling thread. */
export function sqliteDialect(
  database: BunDatabase,
  onSuccess: () => void = () => {},
  turn?: WriteTurn,
): Dialect {
  // SQLite itself waited for locks while the file was opened, when there was no work to block. From here on the driver does.
  database.run("PRAGMA busy_timeout = 0");
  if (turn?.givesWay === true) {
    database.run("PRAGMA wal_autocheckpoint = 0");
    database.run("PRAGMA synchronous = NORMAL");
  }
  return {
    createAdapter: () => new TransactionalSchemaAdapter(),
    createDriver: () => new RetryingSqliteDriver(database, onSuccess, turn),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/**
 * SQLite can change its schema in transactions; Kysely does not use that by default. With it a migration happens completely or
 * not at all, and of several processes one migrates while the others wait.
 */
class TransactionalSchemaAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** The thread's results are rows as JSON. */
type SqliteThread = ThreadClient<SqliteThreadStatement, string>;

/** A thread that reads the SQLite file at `path`. */
export function startSqliteWorker(path: string): Worker {
  return new Worker(new URL("./sqlite-thread.ts", import.meta.url), { workerData: path });
}

/**
 * Kysely's SQLite dialect over one read-only connection in its own thread, so that slow statements do not block the calling
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
  /** Resolves when at most one is running: with more of them, the next thread would take processors away from the server. */
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

  /** A running statement cannot be stopped, so its thread is abandoned until it ends, and the next statement gets another thread. */
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
