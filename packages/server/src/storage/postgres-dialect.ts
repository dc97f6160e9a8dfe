import { PostgresDialect } from "kysely";
import pg from "pg";

const connectTimeoutMs = 3_000;
const defaultMaxConnections = 10;
/**
 * PostgreSQL's type numbers of `bigint`, and of `numeric`, which is the sum of a bigint and the mean of any integer. No column
 * is numeric, and our largest numbers are microseconds, well inside a double's exact range.
 */
const numberOids = new Set([20, 1700]);

export interface PostgresOptions {
  maxConnections?: number;
  /** A statement that takes longer fails; without it a statement may take as long as it needs. */
  queryTimeoutMs?: number;
  /** Hears of connections that died while nobody used them. */
  onConnectionLost(error: Error): void;
}

export function postgresDialect(url: string, options: PostgresOptions): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.maxConnections ?? defaultMaxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(options.queryTimeoutMs === undefined ? {} : { query_timeout: options.queryTimeoutMs }),
    keepAlive: true,
    application_name: "presage",
    types: {
      getTypeParser: (oid, format) => (numberOids.has(oid) ? Number : pg.types.getTypeParser(oid, format)),
    },
  });
  // The pool hangs its whole client onto the error, which is nothing for a log.
  pool.on("error", (error) => options.onConnectionLost(Object.assign(error, { client: undefined })));
  // The pool listens only to connections that nobody uses. One that dies in use fails the statement that uses it; without
  // a listener of its own it would end the process as well.
  pool.on("connect", (client) => client.on("error", () => {}));
  return new PostgresDialect({ pool });
}
