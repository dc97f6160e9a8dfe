import { resolve } from "node:path";
import { type Dialect, Kysely, sql } from "kysely";
import pRetry from "p-retry";
import { ServiceError } from "../../errors.ts";
import type { QueueLimits } from "../../limits/fair-slots.ts";
import type { PostgresLimits, PostgresListeners } from "../postgres/postgres-dialect.ts";
import { createReader, createWriter } from "../reader.ts";
import type { Database, Tables } from "../schema/tables.ts";
import { openSqliteDatabase } from "../sqlite/open-sqlite-database.ts";
import { sqliteThreadDialect, startSqliteWorker } from "../sqlite/sqlite-thread-dialect.ts";
import type { Store } from "../store.ts";
import { isLockTimeout } from "../store-error.ts";
import { hasPostgresSchema, hasSqliteSchema } from "./has-schema.ts";
import { type Migrated, migrate, NewerSchemaError } from "./migrate.ts";
import { NoDatabaseError, OpenDatabaseError } from "./open-database-error.ts";

const sqliteScheme = "sqlite:";
const inMemoryPath = ":memory:";
/**
 * A process that freezes in a transaction loses its locks before another one stops waiting for them. The answer timeout applies
 * if the server does not keep its own limits.
 */
const limits: PostgresLimits = {
  idleInTransactionTimeoutMs: 4_000,
  lockTimeoutMs: 5_000,
  statementTimeoutMs: 8_000,
  responseTimeoutMs: 10_000,
};
/** Summaries that the rollup cannot serve read every row of their filter. */
const readerLimits: PostgresLimits = { ...limits, statementTimeoutMs: 58_000, responseTimeoutMs: 60_000 };
/**
 * Migrations of large tables may take longer than other statements. While one waits for a table, later statements queue behind
 * it, so it gives up before they do and retries.
 */
const migratingLimits: PostgresLimits = {
  idleInTransactionTimeoutMs: 4_000,
  lockTimeoutMs: 3_000,
  statementTimeoutMs: 0,
};
/** Longer than the longest read that a migration may have to wait for. */
const migratingPatienceMs = 120_000;
/** Statement timeouts on threads; SQLite has none of its own. */
const sqliteReaderTimeoutMs = 60_000;
const sqliteBriefReaderTimeoutMs = 10_000;
/** Limited so that long reads leave the database's processors to other work; one connection is always left to other accounts. */
const readerConnections = { slots: 5, slotsEach: 4 };
/** No account may use all of them. */
const briefReaderConnections = { slots: 4, slotsEach: 3 };
/** For one account. */
const maxWaitingReads = 1_000;
const maxReadWaitMs = 60_000;
/**
 * Changes that may wait for locked rows use less than half of the connections, because they hold one while they wait; those that
 * lock the same rows use one at a time.
 */
const writerTurns = { slots: 4, slotsEach: 1 };
const writerQueue = { maxWaitingEach: 100, maxWaitMs: 5_000 };

export function isSqlite(url: string): boolean {
  return url.startsWith(sqliteScheme);
}

/** The file of a database at an SQLite URL. */
export function sqlitePath(url: string): string {
  return url.slice(sqliteScheme.length);
}

/** An in-memory database: every process has its own, which is lost when it ends. */
export const inMemoryUrl = sqliteScheme + inMemoryPath;

export function isInMemory(url: string): boolean {
  return url === inMemoryUrl;
}

export interface OpenedDatabase extends Store {
  /** The SQLite file, if there is one. */
  sqlitePath: string | undefined;
  migrated: Migrated;
  /** Finishes the statements in progress and closes all connections. */
  destroy(): Promise<void>;
}

export interface OpenOptions {
  /** Throws a `NoDatabaseError` instead of creating a database. */
  mustExist?: boolean;
}

/**
 * Opens the database at `url` (`sqlite:PATH`, `sqlite::memory:` or `postgres://…`) and brings its schema up to date.
 * `onConnectionLost` is called when an idle connection is lost, `onSuccess` after each successful statement.
 */
export async function openDatabase(
  url: string,
  onConnectionLost: (error: Error) => void,
  onSuccess: () => void = () => {},
  options: OpenOptions = {},
): Promise<OpenedDatabase> {
  try {
    return await connectAndMigrate(url, { onConnectionLost, onSuccess }, options);
  } catch (error) {
    if (error instanceof NewerSchemaError || error instanceof NoDatabaseError) throw error;
    throw new OpenDatabaseError(error);
  }
}

/** The database at `url`, whose schema is up to date, on one connection: for a thread. */
export async function openThreadDatabase(url: string): Promise<Database> {
  if (isSqlite(url)) return openSqliteDatabase(sqlitePath(url));
  const { postgresDialect } = await import("../postgres/postgres-dialect.ts");
  const onConnectionLost = () => {};
  return new Kysely<Tables>({
    dialect: postgresDialect(url, { limits, maxConnections: 1, onConnectionLost }),
  });
}

async function connectAndMigrate(
  url: string,
  listeners: Required<PostgresListeners>,
  options: OpenOptions,
): Promise<OpenedDatabase> {
  const connected = isSqlite(url)
    ? await connectSqlite(sqlitePath(url), listeners.onSuccess, options)
    : await connectPostgres(url, listeners, options);
  const { closeReaders, ...opened } = connected;
  return {
    ...opened,
    async destroy() {
      await closeReaders();
      await opened.database.destroy();
    },
  };
}

interface Connected extends Omit<OpenedDatabase, "destroy"> {
  closeReaders(): Promise<void>;
}

const refuseRead: QueueLimits["refuse"] = (why) => {
  const message =
    why === "queue full"
      ? "Too many reads of this account are waiting. Try again when some of them have finished."
      : `The read could not start within ${maxReadWaitMs / 1000} s, because earlier reads took too long. Try again later.`;
  return new ServiceError("overloaded", message, { retryAfterS: 1 });
};

function refuseChange(): ServiceError {
  const message = "Too many changes of this account are waiting. Send fewer at once, and try again.";
  return new ServiceError("overloaded", message, { retryAfterS: 1 });
}

const readerQueue: QueueLimits = {
  maxWaitingEach: maxWaitingReads,
  maxWaitMs: maxReadWaitMs,
  refuse: refuseRead,
};

async function connectSqlite(
  path: string,
  onSuccess: () => void,
  { mustExist }: OpenOptions,
): Promise<Connected> {
  if (mustExist && !hasSqliteSchema(path)) throw new NoDatabaseError(resolve(path));
  const database = openSqliteDatabase(path, onSuccess);
  const migrated = await migrate(database);
  // An in-memory database belongs to its one connection.
  if (path === inMemoryPath) {
    const reader = () => database;
    return {
      database,
      writer: reader,
      reader,
      briefReader: reader,
      sqlitePath: undefined,
      migrated,
      closeReaders: async () => {},
    };
  }
  // Threads start with their first statement.
  const startWorker = () => startSqliteWorker(path);
  const long = createReader(sqliteThreadDialect(startWorker, sqliteReaderTimeoutMs), {
    slots: 1,
    queue: readerQueue,
  });
  const brief = createReader(sqliteThreadDialect(startWorker, sqliteBriefReaderTimeoutMs), {
    slots: 1,
    queue: readerQueue,
  });
  return {
    database,
    // The only writing connection; its turns are short.
    writer: () => database,
    reader: long.reader,
    briefReader: brief.reader,
    sqlitePath: path,
    migrated,
    async closeReaders() {
      // One after the other: the last SQLite connection to close removes the log, and of several at once none would be the last.
      await long.destroy();
      await brief.destroy();
    },
  };
}

async function connectPostgres(
  url: string,
  listeners: PostgresListeners,
  { mustExist }: OpenOptions,
): Promise<Connected> {
  const [{ postgresDialect }, { whilePostgresResponds }] = await Promise.all([
    import("../postgres/postgres-dialect.ts"),
    import("../postgres/while-postgres-responds.ts"),
  ]);
  const migrated = await whilePostgresResponds(url, async (signal) => {
    const migrating = new Kysely<Tables>({
      dialect: postgresDialect(url, { ...listeners, limits: migratingLimits, signal }),
    });
    const prepare = async () => {
      if (mustExist && !(await hasPostgresSchema(migrating)))
        throw new NoDatabaseError(withoutCredentials(url));
      await checkEncoding(migrating);
      return await migrateBetweenReads(migrating, signal);
    };
    return await prepare().finally(() => migrating.destroy());
  });
  const dialect = shareConnections(postgresDialect(url, { ...listeners, limits }));
  const database = new Kysely<Tables>({ dialect });
  const writer = createWriter(dialect, {
    ...writerTurns,
    queue: { ...writerQueue, refuse: refuseChange },
  });
  const createReaderOf = (connections: { slots: number; slotsEach: number }, limits: PostgresLimits) =>
    createReader(
      postgresDialect(url, { ...listeners, maxConnections: connections.slots, limits, isReadOnly: true }),
      { ...connections, queue: readerQueue },
    );
  const long = createReaderOf(readerConnections, readerLimits);
  const brief = createReaderOf(briefReaderConnections, limits);
  return {
    database,
    writer,
    reader: long.reader,
    briefReader: brief.reader,
    sqlitePath: undefined,
    migrated,
    async closeReaders() {
      await Promise.all([long.destroy(), brief.destroy()]);
    },
  };
}

/** Every user of the dialect gets the same connections. */
function shareConnections(dialect: Dialect): Dialect {
  const driver = dialect.createDriver();
  return { ...dialect, createDriver: () => driver };
}

/** A migration that waits too long for a table in use is rolled back and retried, so that other statements can proceed in between. */
async function migrateBetweenReads(database: Database, signal: AbortSignal): Promise<Migrated> {
  return await pRetry(() => migrate(database), {
    retries: Number.POSITIVE_INFINITY,
    signal,
    maxRetryTime: migratingPatienceMs,
    minTimeout: 500,
    maxTimeout: 5_000,
    randomize: true,
    shouldRetry: ({ error }) => isLockTimeout(error),
  });
}

/** The host and name of a PostgreSQL database. */
function withoutCredentials(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

/** In other encodings, SQL_ASCII above all, texts would be cut and measured in bytes. */
async function checkEncoding(database: Database): Promise<void> {
  const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(database);
  const encoding = rows[0]?.server_encoding;
  if (encoding !== "UTF8") throw new Error(`its encoding is ${encoding}; Presage needs UTF8`);
}
