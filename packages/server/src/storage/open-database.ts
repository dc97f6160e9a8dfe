import { type Dialect, Kysely, sql } from "kysely";
import pRetry from "p-retry";
import { ServiceError } from "../errors.ts";
import type { QueueLimits } from "../limits/fair-slots.ts";
import { migrate, NewerSchemaError } from "./migrate.ts";
import type { PostgresLimits, PostgresListeners } from "./postgres/postgres-dialect.ts";
import { createReader, createWriter } from "./reader.ts";
import type { Database, Tables } from "./schema/tables.ts";
import { openSqliteDatabase } from "./sqlite/open-sqlite-database.ts";
import { sqliteThreadDialect, startSqliteWorker } from "./sqlite/sqlite-thread-dialect.ts";
import type { Store } from "./store.ts";
import { isLockTimeout } from "./store-error.ts";

const sqliteScheme = "sqlite:";
const inMemoryPath = ":memory:";
/**
 * Of two processes that want the same rows, one that is frozen in a transaction loses them before the other gives up. What the
 * server does not end in time is ended here.
 */
const limits: PostgresLimits = {
  idleInTransactionTimeoutMs: 4_000,
  lockTimeoutMs: 5_000,
  statementTimeoutMs: 8_000,
  answerTimeoutMs: 10_000,
};
/** A summary that no rollup answers reads every row of its filter. */
const readerLimits: PostgresLimits = { ...limits, statementTimeoutMs: 58_000, answerTimeoutMs: 60_000 };
/**
 * A migration of a large table may take longer than any other statement should. While it waits for a table, whoever comes
 * after it waits as well: it gives up sooner than they do, and tries again.
 */
const migratingLimits: PostgresLimits = {
  idleInTransactionTimeoutMs: 4_000,
  lockTimeoutMs: 3_000,
  statementTimeoutMs: 0,
};
/** Longer than the longest read, for which a migration waits. */
const migratingPatienceMs = 120_000;
/** How long a statement on a thread may take; a file has no limits of its own. */
const sqliteReaderTimeoutMs = 60_000;
const sqliteBriefReaderTimeoutMs = 10_000;
/**
 * So that long reads, however many are asked for, leave the database's processors to the rest; and one connection of them
 * to other accounts than the one that has the most.
 */
const readerConnections = { slots: 5, slotsEach: 4 };
/** Of brief reads, none of which one account may take all of. */
const briefReaderConnections = { slots: 4, slotsEach: 3 };
/** Of one account; whoever hangs up waits no longer. */
const maxWaitingReads = 1_000;
const maxReadWaitMs = 60_000;
/**
 * Changes that may wait for rows that others hold have less than half of the connections, and those that hold one another up one:
 * whoever waits for a row waits with a connection in hand.
 */
const writerTurns = { slots: 4, slotsEach: 1 };
const writerQueue = { maxWaitingEach: 100, maxWaitMs: 5_000 };

/** The database cannot be opened, for the reason that the message gives. */
export class OpenDatabaseError extends Error {
  constructor(failure: unknown) {
    const cause = failure instanceof ServiceError ? failure.cause : failure;
    const reason = cause instanceof Error && cause.message !== "" ? cause.message : "no answer";
    super(`The database cannot be opened (PRESAGE_DATABASE_URL): ${reason}`, { cause });
    this.name = "OpenDatabaseError";
  }
}

/** Whether each process that opens `url` has a database of its own, which ends with it. */
export function isInMemory(url: string): boolean {
  return url === sqliteScheme + inMemoryPath;
}

export interface OpenedDatabase extends Store {
  /** The SQLite file, where there is one. */
  sqlitePath: string | undefined;
  /** The migrations that this start ran. */
  migrated: string[];
  /** Finishes the statements under way and closes every connection. */
  destroy(): Promise<void>;
}

/**
 * Opens the database at `url` (`sqlite:PATH`, `sqlite::memory:` or `postgres://…`) and brings its schema up to date.
 * `onConnectionLost` hears of connections that died while nobody used them, `onAnswer` of statements that were answered.
 */
export async function openDatabase(
  url: string,
  onConnectionLost: (error: Error) => void,
  onAnswer: () => void = () => {},
): Promise<OpenedDatabase> {
  try {
    return await connectAndMigrate(url, onConnectionLost, onAnswer);
  } catch (error) {
    throw error instanceof NewerSchemaError ? error : new OpenDatabaseError(error);
  }
}

async function connectAndMigrate(
  url: string,
  onConnectionLost: (error: Error) => void,
  onAnswer: () => void,
): Promise<OpenedDatabase> {
  const connected = url.startsWith(sqliteScheme)
    ? await connectSqlite(url.slice(sqliteScheme.length), onAnswer)
    : await connectPostgres(url, { onConnectionLost, onAnswer });
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
      ? "Too many reads of this account wait already. Try again when some of them are answered."
      : `Other reads took so long that this one was not begun within ${maxReadWaitMs / 1000} s. Try again later.`;
  return new ServiceError("overloaded", message, { retryAfterS: 1 });
};

function refuseChange(): ServiceError {
  const message = "Too many changes of this account wait already. Send fewer at once, and try again.";
  return new ServiceError("overloaded", message, { retryAfterS: 1 });
}

const readerQueue: QueueLimits = {
  maxWaitingEach: maxWaitingReads,
  maxWaitMs: maxReadWaitMs,
  refuse: refuseRead,
};

async function connectSqlite(path: string, onAnswer: () => void): Promise<Connected> {
  const database = openSqliteDatabase(path, onAnswer);
  const migrated = await migrate(database);
  // A database in memory is its one connection's own.
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
  // A thread starts with its first statement.
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
    // There is one connection that writes, whose turns are short.
    writer: () => database,
    reader: long.reader,
    briefReader: brief.reader,
    sqlitePath: path,
    migrated,
    async closeReaders() {
      // One after the other: of SQLite connections that close at once, none is the last, which clears the log away.
      await long.destroy();
      await brief.destroy();
    },
  };
}

async function connectPostgres(url: string, listeners: PostgresListeners): Promise<Connected> {
  const { postgresDialect } = await import("./postgres/postgres-dialect.ts");
  const migrating = new Kysely<Tables>({
    dialect: postgresDialect(url, { ...listeners, limits: migratingLimits }),
  });
  const migrated = await checkEncoding(migrating)
    .then(() => migrateBetweenReads(migrating))
    .finally(() => migrating.destroy());
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

/** Whatever uses the dialect has the same connections. */
function shareConnections(dialect: Dialect): Dialect {
  const driver = dialect.createDriver();
  return { ...dialect, createDriver: () => driver };
}

/** Whoever uses a table holds up its migration, which takes back what it has done and lets others on before it tries again. */
async function migrateBetweenReads(database: Database): Promise<string[]> {
  return await pRetry(() => migrate(database), {
    retries: Number.POSITIVE_INFINITY,
    maxRetryTime: migratingPatienceMs,
    minTimeout: 500,
    maxTimeout: 5_000,
    randomize: true,
    shouldRetry: ({ error }) => isLockTimeout(error),
  });
}

/** In any other encoding, SQL_ASCII above all, texts would be cut and measured by their bytes. */
async function checkEncoding(database: Database): Promise<void> {
  const { rows } = await sql<{ server_encoding: string }>`show server_encoding`.execute(database);
  const encoding = rows[0]?.server_encoding;
  if (encoding !== "UTF8") throw new Error(`its encoding is ${encoding}, and Presage needs UTF8`);
}
