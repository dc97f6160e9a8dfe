import { type Dialect, Kysely, sql } from "kysely";
import pRetry from "p-retry";
import { ServiceError } from "../errors.ts";
import { hasPostgresSchema, migrate } from "./migrate.ts";
import { refuseSharedSessions, whilePostgresResponds } from "./postgres.ts";
import { type PostgresLimits, type PostgresListeners, postgresDialect } from "./postgres-driver.ts";
import type { Database, Tables } from "./schema/tables.ts";
import {
  type Connected,
  createReader,
  createWriter,
  type Migrated,
  type OpenOptions,
  readerQueue,
} from "./store.ts";
import { isLockTimeout, NoDatabaseError } from "./store-error.ts";

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
/** Limited so that long reads leave the database's processors to other work; one connection is always left to other accounts. */
const readerConnections = { slots: 5, slotsEach: 4 };
/** No account may use all of them. */
const briefReaderConnections = { slots: 4, slotsEach: 3 };
/**
 * Changes that may wait for locked rows use less than half of the connections, because they hold one while they wait; those that
 * lock the same rows use one at a time.
 */
const writerTurns = { slots: 4, slotsEach: 1 };
const writerQueue = { maxWaitingEach: 100, maxWaitMs: 5_000 };

export async function connectPostgres(
  url: string,
  listeners: PostgresListeners,
  { mustExist }: OpenOptions,
): Promise<Connected> {
  const migrated = await whilePostgresResponds(url, async (signal) => {
    const migrating = new Kysely<Tables>({
      dialect: postgresDialect(url, { ...listeners, limits: migratingLimits, signal }),
    });
    const prepare = async () => {
      if (mustExist && !(await hasPostgresSchema(migrating)))
        throw new NoDatabaseError(withoutCredentials(url));
      await refuseSharedSessions(migrating);
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

/** One connection, for a thread. */
export function connectPostgresOnce(url: string): Database {
  const onConnectionLost = () => {};
  return new Kysely<Tables>({
    dialect: postgresDialect(url, { limits, maxConnections: 1, onConnectionLost }),
  });
}

function refuseChange(): ServiceError {
  const message = "Too many changes of this account are waiting. Send fewer at once, and try again.";
  return new ServiceError("overloaded", message, { retryAfterS: 1 });
}
