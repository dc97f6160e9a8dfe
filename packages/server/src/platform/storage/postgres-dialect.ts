import { type Dialect, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import pg from "pg";
import { postgresDriver } from "./postgres-driver.ts";

const connectTimeoutMs = 3_000;
const defaultMaxConnections = 10;
/**
 * The type OIDs of `bigint` and of `numeric`, the type of a bigint's sum and of any integer's mean. No column is numeric, and the
 * largest numbers are microseconds, well within a double's exact range.
 */
const numberOids = new Set([20, 1700]);

/** Time limits of a session, so that none blocks others for long. Absent: the server's own. */
export interface PostgresLimits {
  /** A statement that waits longer for a lock fails. */
  lockTimeoutMs?: number;
  /** A transaction that is idle for this long is rolled back: its process is frozen or gone. */
  idleInTransactionTimeoutMs?: number;
  /** A statement that takes longer fails; 0: no limit. */
  statementTimeoutMs?: number;
  /** The connection is closed if the server does not respond for this long. Must exceed the other limits. */
  responseTimeoutMs?: number;
}

export interface PostgresListeners {
  /** Called when an idle connection is lost. */
  onConnectionLost(error: Error): void;
  /** Called after each successful statement. */
  onSuccess?(): void;
}

export interface PostgresOptions extends PostgresListeners {
  maxConnections?: number;
  limits?: PostgresLimits;
  isReadOnly?: boolean;
  /** Once it is aborted, all connections are closed at once. */
  signal?: AbortSignal;
}

export function postgresDialect(url: string, options: PostgresOptions): Dialect {
  const { responseTimeoutMs } = options.limits ?? {};
  const settings = sessionSettings(options);
  const pool = new pg.Pool({
    connectionString: url,
    max: options.maxConnections ?? defaultMaxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(responseTimeoutMs === undefined ? {} : { query_timeout: responseTimeoutMs }),
    keepAlive: true,
    application_name: "presage",
    types: {
      getTypeParser: (oid, format) => (numberOids.has(oid) ? Number : pg.types.getTypeParser(oid, format)),
    },
    // With a statement, because poolers such as PgBouncer refuse them as startup parameters.
    onConnect: (client) => applySettings(client as pg.Client, settings),
  });
  // The pool attaches its whole client to the error, which does not belong in a log.
  pool.on("error", (error) => options.onConnectionLost(Object.assign(error, { client: undefined })));
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => postgresDriver(pool, options),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

function sessionSettings({ limits = {}, isReadOnly = false }: PostgresOptions): string {
  const settings = {
    lock_timeout: limits.lockTimeoutMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionTimeoutMs,
    statement_timeout: limits.statementTimeoutMs,
    // After waiting for a row, a statement sees its new version; in stricter levels it would fail.
    default_transaction_isolation: "'read committed'",
    default_transaction_read_only: isReadOnly ? "on" : undefined,
  };
  return Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `set ${name} = ${value}`)
    .join("; ");
}

async function applySettings(client: pg.Client, settings: string): Promise<void> {
  try {
    await client.query({ text: settings, query_timeout: connectTimeoutMs } as pg.QueryConfig);
  } catch (error) {
    // An orderly close might wait forever.
    client.connection.stream.destroy();
    throw error;
  }
}
