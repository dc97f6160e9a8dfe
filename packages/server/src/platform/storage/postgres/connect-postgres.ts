import { setTimeout as sleep } from "node:timers/promises";
import { type Dialect, Kysely, sql } from "kysely";
import pRetry from "p-retry";
import { ServiceError } from "../../errors.ts";
import { hasPostgresSchema, migrate } from "../migrate.ts";
import type { Database, Tables } from "../schema/tables.ts";
import {
  createReader,
  createWriter,
  type Migrated,
  type OpenedDatabase,
  type OpenOptions,
  readerQueue,
} from "../store.ts";
import { isLockTimeout, NoDatabaseError, storeUnavailable } from "../store-error.ts";
import { type PostgresLimits, type PostgresListeners, postgresDialect } from "./postgres-driver.ts";

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
const probeEveryMs = 1_000;
const probeTimeoutMs = 3_000;
/** As long as statements with a time limit wait for a response. */
const maxSilenceMs = 10_000;

const networkCodes = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT", // no socket at the path
  "ENOTFOUND", // a container that is not started has no name yet
  "EPIPE",
  "ETIMEDOUT",
]);

/** SQLSTATEs of connections: lost, not accepted yet or no longer. */
const connectionStates = /^(08|57P)/;

/** Errors without a code: the driver's and our own. */
const lostOrSilent =
  /^(Connection terminated|timeout e|Query read timeout|the connection was closed|no response)/;

export interface WaitOptions {
  /** How long PostgreSQL may be down before the last error is thrown. */
  patienceMs: number;
  /** Called with the first error. */
  onDown(error: unknown): void;
}

export async function connectPostgres(
  url: string,
  listeners: PostgresListeners,
  { mustExist }: OpenOptions,
): Promise<OpenedDatabase> {
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
    async destroy() {
      await Promise.all([long.destroy(), brief.destroy()]);
      await database.destroy();
    },
  };
}

/** One connection, for a thread. */
export function connectPostgresOnce(url: string): Database {
  const onConnectionLost = () => {};
  return new Kysely<Tables>({
    dialect: postgresDialect(url, { limits, maxConnections: 1, onConnectionLost }),
  });
}

/** Opens a database, again and again while its PostgreSQL is down. */
export async function waitForPostgres<Opened>(
  open: () => Promise<Opened>,
  { patienceMs, onDown }: WaitOptions,
): Promise<Opened> {
  let downSinceMs: number | undefined;
  return await pRetry(open, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 100,
    maxTimeout: 2_000,
    randomize: true,
    shouldRetry({ error }) {
      if (!isPostgresDown(error)) return false;
      if (downSinceMs === undefined) onDown(error);
      downSinceMs ??= performance.now();
      return performance.now() - downSinceMs < patienceMs;
    },
  });
}

/**
 * Runs work whose statements have no time limit. Its signal is aborted once PostgreSQL has not responded to another connection for
 * 10 s: without that, the work would wait forever.
 */
export async function whilePostgresResponds<Result>(
  url: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const silence = new AbortController();
  const end = new AbortController();
  const watching = watchSilence(url, silence, end.signal);
  try {
    return await work(silence.signal);
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error;
  } finally {
    end.abort();
    await watching;
  }
}

/** Whether PostgreSQL is down, starting or silent, so that waiting helps, as opposed to one that refuses the client or its database. */
export function isPostgresDown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.cause instanceof Error) return isPostgresDown(error.cause);
  if (error instanceof AggregateError) return error.errors.some(isPostgresDown);
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  if (code === undefined) return lostOrSilent.test(error.message);
  return networkCodes.has(code) || connectionStates.test(code);
}

/**
 * Throws if a pooler gives a connection another session for each transaction: a session's settings would then apply to other
 * connections, such as the long reads' read-only mode to writes. Needs two connections.
 */
export async function refuseSharedSessions(database: Database): Promise<void> {
  await database.connection().execute(async (one) => {
    const session = await readSession(one);
    // While a transaction holds a session, the pooler cannot give that to another connection.
    const isShared = await database
      .transaction()
      .execute(
        async (other) => (await readSession(other)) === session || (await readSession(one)) !== session,
      );
    if (isShared)
      throw new Error(
        "a pooler in transaction mode is in between; give it session mode (PgBouncer: pool_mode = session), or connect to PostgreSQL itself",
      );
  });
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

function refuseChange(): ServiceError {
  const message = "Too many changes of this account are waiting. Send fewer at once, and try again.";
  return new ServiceError("overloaded", message, { retryAfterS: 1 });
}

async function watchSilence(url: string, silence: AbortController, end: AbortSignal): Promise<void> {
  let respondedAtMs = performance.now();
  const probe = new Kysely({
    dialect: postgresDialect(url, {
      maxConnections: 1,
      limits: { responseTimeoutMs: probeTimeoutMs },
      onConnectionLost() {},
    }),
  });
  for (;;) {
    // The first probe comes late, so that most starts need no connection for it.
    await sleep(probeEveryMs, undefined, { signal: end }).catch(() => {});
    if (end.aborted) break;
    if (await responds(probe)) respondedAtMs = performance.now();
    else if (performance.now() - respondedAtMs > maxSilenceMs) {
      silence.abort(storeUnavailable(new Error(`no response for ${maxSilenceMs / 1000} s`)));
      break;
    }
  }
  await probe.destroy();
}

/** A refusal is a response, too. */
async function responds(probe: Kysely<unknown>): Promise<boolean> {
  return await sql`select 1`.execute(probe).then(
    () => true,
    (error: unknown) => !isPostgresDown(error),
  );
}

async function readSession(database: Database): Promise<number | undefined> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database);
  return rows[0]?.pid;
}
