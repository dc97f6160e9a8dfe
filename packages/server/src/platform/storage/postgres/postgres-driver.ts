import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import pg from "pg";
import { storeBusy, storeUnavailable, storeUncertain } from "../store-error.ts";

/** How long an orderly close of connections may take. */
const closeTimeoutMs = 1_000;

/** SQLSTATEs with which the server ends the connection: an operator, a crash, an idle transaction. */
const endsConnection = /^(57P|08|25P0[34])/;
/** The one of these that is sent only while a transaction is idle. */
const idleTimeout = "25P03";
/** The response of a read-only server to a write. */
const readOnly = "25006";
/** A connection to such a server is replaced after this time: the address may lead to another server by then. */
const replaceAfterMs = 5_000;
/** After these the server may have ended as well, if it was writing its log. */
const mayEndServer = /^(53|58|XX)/;

interface Session extends DatabaseConnection {
  client: pg.PoolClient;
  openedAtMs: number;
  isInTransaction: boolean;
  /** Whether the connection should be replaced. */
  isOutdated: boolean;
  /** Why the connection must no longer be used. */
  failure: unknown;
}

/**
 * Kysely's own driver reuses a connection after a statement timed out or a rollback failed: the old transaction is still open on
 * it, and the next callers' commits are lost with it. This driver closes such a connection, so that the server rolls back.
 */
function postgresDriver(
  pool: pg.Pool,
  { onSuccess = () => {}, signal }: Pick<PostgresOptions, "onSuccess" | "signal">,
): Driver {
  const sessions = new Map<pg.PoolClient, Session>();
  let respondedAtMs = Number.NEGATIVE_INFINITY;
  let inUse = 0;
  signal?.addEventListener("abort", () => {
    for (const session of sessions.values()) cut(session, signal.reason);
  });
  let onUnused: (() => void) | undefined;

  pool.on("connect", (client) => {
    const session = openSession(client, () => {
      respondedAtMs = performance.now();
      onSuccess();
    });
    sessions.set(client, session);
    // The pool only listens to idle connections. One that is lost in use fails its statement; without a listener it would also
    // end the process.
    client.on("error", (error) => {
      session.failure ??= error;
    });
    client.on("end", () => {
      session.failure ??= new Error("the connection was closed");
      sessions.delete(client);
    });
  });

  function leave(): void {
    inUse -= 1;
    if (inUse === 0) onUnused?.();
  }

  /** Whether all connections were in use and the server responded meanwhile. If it did not, it is unavailable. */
  function isBusy(sinceMs: number): boolean {
    const usable = sessions.values().reduce((sum, { failure }) => sum + Number(failure === undefined), 0);
    return usable >= pool.options.max && respondedAtMs > sinceMs;
  }

  return {
    async init() {},

    async acquireConnection() {
      inUse += 1;
      const startedAtMs = performance.now();
      try {
        const client = await pool.connect();
        const session = sessions.get(client);
        if (session !== undefined) return session;
        client.release(true);
        throw new Error("the connection was closed");
      } catch (error) {
        leave();
        throw isBusy(startedAtMs) ? storeBusy(error) : storeUnavailable(error);
      }
    },

    async beginTransaction(connection, { isolationLevel }) {
      const session = connection as Session;
      const level = isolationLevel === undefined ? "" : ` isolation level ${isolationLevel}`;
      await send(session, CompiledQuery.raw(`begin${level}`), "harmless");
      session.isInTransaction = true;
    },

    async commitTransaction(connection) {
      const session = connection as Session;
      const { command } = await send(session, CompiledQuery.raw("commit"), "commits");
      session.isInTransaction = false;
      // PostgreSQL's response if a statement failed and the error was not passed on.
      if (command !== "COMMIT")
        throw storeUnavailable(new Error("The transaction was rolled back because a statement in it failed"));
    },

    async rollbackTransaction(connection) {
      const session = connection as Session;
      // Closed connections roll back by themselves, and a failing rollback would mask the original error.
      if (session.failure !== undefined || !session.isInTransaction) return;
      session.isInTransaction = false;
      await send(session, CompiledQuery.raw("rollback"), "harmless").catch(() => {});
    },

    async releaseConnection(connection) {
      const session = connection as Session;
      const { client } = session;
      const isClean = session.failure === undefined && client.getTransactionStatus() === "I";
      if (!isClean) cut(session, session.failure ?? new Error("the transaction did not end"));
      client.release(!isClean || session.isOutdated);
      leave();
    },

    async destroy() {
      const ended = pool.end();
      // All connections in use are returned, at the latest by their time limits.
      if (inUse > 0) await new Promise<void>((resolve) => (onUnused = resolve));
      // A silent server never completes an orderly close.
      const deadlineMs = performance.now() + closeTimeoutMs;
      while (sessions.size > 0 && performance.now() < deadlineMs) await Bun.sleep(5);
      for (const session of sessions.values()) session.client.connection.stream.destroy();
      await ended;
    },
  };
}

function openSession(client: pg.PoolClient, onSuccess: () => void): Session {
  const session: Session = {
    client,
    openedAtMs: performance.now(),
    isInTransaction: false,
    isOutdated: false,
    failure: undefined,
    async executeQuery<Row>(query: CompiledQuery) {
      const commits = !session.isInTransaction && !isRead(query);
      const { command, rowCount, rows } = await send(session, query, commits ? "commits" : "harmless");
      onSuccess();
      return {
        rows: rows as Row[],
        ...(changing.has(command) ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}),
      };
    },
    streamQuery() {
      throw new Error("Statements return all their rows at once; streaming is not supported");
    },
  };
  return session;
}

const changing = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

function isRead({ query, sql }: CompiledQuery): boolean {
  return query.kind === "SelectQueryNode" || (query.kind === "RawNode" && /^\s*(select|show)\b/i.test(sql));
}

/** Sends a statement. If one that "commits" gets no response, it is unknown whether its changes were stored. */
async function send(session: Session, { sql, parameters }: CompiledQuery, effect: "commits" | "harmless") {
  const { client } = session;
  if (session.failure !== undefined) throw storeUnavailable(session.failure);
  try {
    return await client.query(sql, [...parameters]);
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? (error.code ?? "") : undefined;
    // After a failover the address leads to another server, but existing connections do not.
    session.isOutdated ||= code === readOnly && performance.now() - session.openedAtMs > replaceAfterMs;
    // The server rejected the statement; the connection is still usable.
    if (code !== undefined && !endsConnection.test(code)) {
      if (effect === "harmless" || !mayEndServer.test(code) || (await responds(client))) throw error;
    }
    cut(session, error);
    // The cause is not the database, but a parameter that cannot be sent.
    if (error instanceof TypeError || error instanceof RangeError) throw error;
    throw effect === "commits" && code !== idleTimeout ? storeUncertain(error) : storeUnavailable(error);
  }
}

async function responds(client: pg.PoolClient): Promise<boolean> {
  return await client.query("select 1").then(
    () => true,
    () => false,
  );
}

/** Closes the connection immediately, so that the server rolls back. */
function cut(session: Session, failure: unknown): void {
  session.failure = failure;
  session.client.connection.stream.destroy();
}

const connectTimeoutMs = 3_000;
/** A reading connection is replaced this often: no read fails because its server has become read-only. */
const maxReaderLifetimeS = 10;
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

interface PostgresOptions extends PostgresListeners {
  maxConnections?: number;
  limits?: PostgresLimits;
  isReadOnly?: boolean;
  /** Once it is aborted, all connections are closed immediately. */
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
    ...(options.isReadOnly ? { maxLifetimeSeconds: maxReaderLifetimeS } : {}),
    application_name: "presage",
    types: {
      getTypeParser: (oid, format) => (numberOids.has(oid) ? Number : pg.types.getTypeParser(oid, format)),
    },
    // Set by a statement, because poolers such as PgBouncer refuse settings as startup parameters.
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
    // After waiting for a row, a statement sees its new version; at stricter levels it would fail.
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
