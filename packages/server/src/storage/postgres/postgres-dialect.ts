import { type Dialect, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import pg from "pg";
import { postgresDriver } from "./postgres-driver.ts";

const connectTimeoutMs = 3_000;
const defaultMaxConnections = 10;
/**
 * PostgreSQL's type numbers of `bigint`, and of `numeric`, which is the sum of a bigint and the mean of any integer. No column
 * is numeric, and our largest numbers are microseconds, well inside a double's exact range.
 */
const numberOids = new Set([20, 1700]);

/** How long a session may do what, so that none holds up others for long. Without a limit, as the server has it. */
export interface PostgresLimits {
  /** A statement that waits longer for a lock fails. */
  lockTimeoutMs?: number;
  /** A transaction in which nothing happens for so long is taken back: whoever began it is frozen or gone. */
  idleInTransactionTimeoutMs?: number;
  /** A statement that takes longer fails; with 0 it may take as long as it needs. */
  statementTimeoutMs?: number;
  /** When the server itself is taken to be silent, and the connection is cut. Above all of the others. */
  answerTimeoutMs?: number;
}

export interface PostgresListeners {
  /** Hears of connections that died while nobody used them. */
  onConnectionLost(error: Error): void;
  /** Hears of each statement that was answered. */
  onAnswer?(): void;
}

export interface PostgresOptions extends PostgresListeners {
  maxConnections?: number;
  limits?: PostgresLimits;
  isReadOnly?: boolean;
}

export function postgresDialect(url: string, options: PostgresOptions): Dialect {
  const { answerTimeoutMs } = options.limits ?? {};
  const settings = sessionSettings(options);
  const pool = new pg.Pool({
    connectionString: url,
    max: options.maxConnections ?? defaultMaxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(answerTimeoutMs === undefined ? {} : { query_timeout: answerTimeoutMs }),
    keepAlive: true,
    application_name: "presage",
    types: {
      getTypeParser: (oid, format) => (numberOids.has(oid) ? Number : pg.types.getTypeParser(oid, format)),
    },
    // By statement, because poolers such as PgBouncer refuse a connection that asks for them at its start.
    onConnect: (client) => settle(client as pg.Client, settings),
  });
  // The pool hangs its whole client onto the error, which is nothing for a log.
  pool.on("error", (error) => options.onConnectionLost(Object.assign(error, { client: undefined })));
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => postgresDriver(pool, options.onAnswer),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

function sessionSettings({ limits = {}, isReadOnly = false }: PostgresOptions): string {
  const settings = {
    lock_timeout: limits.lockTimeoutMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionTimeoutMs,
    statement_timeout: limits.statementTimeoutMs,
    // Whoever waited for a row sees it as it then is; any other level would refuse them.
    default_transaction_isolation: "'read committed'",
    default_transaction_read_only: isReadOnly ? "on" : undefined,
  };
  return Object.entries(settings)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `set ${name} = ${value}`)
    .join("; ");
}

async function settle(client: pg.Client, settings: string): Promise<void> {
  try {
    await client.query({ text: settings, query_timeout: connectTimeoutMs } as pg.QueryConfig);
  } catch (error) {
    // A farewell might never be answered.
    client.connection.stream.destroy();
    throw error;
  }
}
