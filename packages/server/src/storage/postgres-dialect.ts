import { PostgresDialect } from "kysely";
import pg from "pg";

const connectTimeoutMs = 3_000;
const maxConnections = 10;
/** PostgreSQL's type number of `bigint`. Our largest are microseconds, well inside a double's exact range. */
const bigintOid = 20;

export interface PostgresOptions {
  /** A statement that takes longer fails; without it a statement may take as long as it needs. */
  queryTimeoutMs?: number;
  /** Hears of connections that died while nobody used them. */
  onConnectionLost(error: Error): void;
}

export function postgresDialect(url: string, options: PostgresOptions): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(options.queryTimeoutMs === undefined ? {} : { query_timeout: options.queryTimeoutMs }),
    keepAlive: true,
    application_name: "presage",
    types: {
      getTypeParser: (oid, format) => (oid === bigintOid ? Number : pg.types.getTypeParser(oid, format)),
    },
  });
  // The pool hangs its whole client onto the error, which is nothing for a log.
  pool.on("error", (error) => options.onConnectionLost(Object.assign(error, { client: undefined })));
  // The pool listens only to connections that nobody uses. One that dies in use fails the statement that uses it; without
  // a listener of its own it would end the process as well.
  pool.on("connect", (client) => client.on("error", () => {}));
  return new PostgresDialect({ pool });
}
