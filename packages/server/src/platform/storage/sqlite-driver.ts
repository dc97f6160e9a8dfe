import { type Database as BunDatabase, Database, type SQLQueryBindings, type Statement } from "bun:sqlite";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from "kysely";
import { LRUCache } from "lru-cache";
import pRetry from "p-retry";
import type { WriteTurn } from "./sqlite-turns.ts";
import { isDatabaseLocked, isDiskFailure, storeUncertain } from "./store-error.ts";

/** How long SQLite itself waits for another connection's lock, blocking the calling thread. */
export const busyTimeoutMs = 5_000;

/** Opens a connection whose commits are on disk when they return. */
export function openSqlite(path: string): Database {
  if (path !== ":memory:") createFile(path);
  const database = new Database(path, { create: true, strict: true });
  try {
    database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    database.run("PRAGMA journal_mode = WAL");
    database.run("PRAGMA synchronous = FULL");
    database.run("PRAGMA foreign_keys = ON");
    // What is deleted is overwritten; `fast` would leave the texts in free pages.
    database.run("PRAGMA secure_delete = ON");
  } catch (error) {
    database.close();
    throw error;
  }
  return database;
}

/** The same for reads only. */
export function openSqliteReader(path: string): Database {
  const database = openSqlite(path);
  database.run("PRAGMA query_only = ON");
  return database;
}

/**
 * Creates a missing file, readable by its owner only: it holds the secret for digests of API keys. An existing file is not
 * opened: closing any descriptor of it drops the locks of this process's other connections (POSIX), and the next process to
 * open it would take its log for abandoned and delete it.
 */
function createFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

const maxStatements = 200;
/** A statement keeps a copy of what was last bound to it. With more than this it is not kept. */
const maxBoundLength = 64 * 1024;

/** A connection's prepared statements by their text. */
export interface StatementCache {
  /**
   * For one use, before the next is prepared: either may close it. In place of its parameters it may be given rows of them, for each
   * of which it is executed.
   */
  prepare(sql: string): SqliteStatement;
  /** Closes the connection with its statements: SQLite keeps it open for as long as one is left. */
  close(): void;
}

/** Keeps the statements that were used last. Bun's own cache keeps the first twenty of a connection for ever, and no others. */
export function createStatementCache(database: Database): StatementCache {
  const statements = new LRUCache<string, Statement>({
    max: maxStatements,
    dispose: (statement) => statement.finalize(),
  });

  function find(sql: string): Statement {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  }

  return {
    prepare(sql) {
      const statement = find(sql);

      /** Executes it for each row, or once, and returns the results. */
      function use<Result>(
        parameters: readonly unknown[],
        execute: (bindings: SQLQueryBindings[]) => Result,
      ): Result[] {
        let bound = parameters;
        try {
          return rowsOf(parameters).map((row) => {
            bound = row;
            return execute(row as SQLQueryBindings[]);
          });
        } finally {
          letGo(bound);
        }
      }

      function letGo(parameters: readonly unknown[]): void {
        if (boundLength(parameters) > maxBoundLength) statements.delete(sql);
      }

      // Bun takes the values as one list too, which is faster than as many arguments.
      return {
        reader: statement.columnNames.length > 0,
        all: (parameters) => use(parameters, (bindings) => statement.all(bindings)).flat(),
        run: (parameters) => use(parameters, (bindings) => statement.run(bindings)).at(-1) ?? nothing,
        *iterate(parameters) {
          try {
            yield* statement.iterate(...(parameters as SQLQueryBindings[]));
          } finally {
            letGo(parameters);
          }
        },
      };
    },
    close() {
      statements.clear();
      database.close();
    },
  };
}

const nothing = { changes: 0, lastInsertRowid: 0 };

/** No parameter is an array. */
function rowsOf(parameters: readonly unknown[]): readonly (readonly unknown[])[] {
  return Array.isArray(parameters[0]) ? (parameters as readonly unknown[][]) : [parameters];
}

/** In characters or bytes. */
function boundLength(parameters: readonly unknown[]): number {
  let length = 0;
  for (const parameter of parameters) {
    if (typeof parameter === "string") length += parameter.length;
    else if (ArrayBuffer.isView(parameter)) length += parameter.byteLength;
  }
  return length;
}

/** How long a statement waits for another process to finish its write. */
const patienceMs = 5_000;
/** Even a process that writes a lot regularly leaves the file alone for longer than this. */
const maxPauseMs = 10;

/**
 * Kysely's driver, with transactions that take the write lock at their start. Waits for locks of other processes by retrying
 * statements instead of inside SQLite, so that the thread stays free. After a timeout, statements queued behind it are tried
 * only once: the last of them would wait for minutes.
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

  /** With the write lock: a transaction that reads first fails when it writes, if another process wrote in between. */
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
export function sqliteDialect(path: string, onSuccess: () => void = () => {}, turn?: WriteTurn): Dialect {
  const database = openSqlite(path);
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
