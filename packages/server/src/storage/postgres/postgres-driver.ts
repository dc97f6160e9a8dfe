import { CompiledQuery, type DatabaseConnection, type Driver } from "kysely";
import pg from "pg";
import { storeBusy, storeUnavailable, storeUncertain } from "../store-error.ts";

/** How long connections that are told to end may take before they are cut. */
const farewellMs = 1_000;

/** With these the server ends the connection: an operator, a crash, a transaction in which nothing happened for long. */
const endsConnection = /^(57P|08|25P0[34])/;
/** Of them, the one that the server says only while a transaction is idle. */
const idledAway = "25P03";
/** What a server answers to a write that is not, or no longer, the one to write to. */
const readOnly = "25006";
/** So old must a connection to such a server be to be exchanged for one that may lead to another server. */
const exchangeAfterMs = 5_000;
/** With these it may be the server's end as well, if it came upon them while it wrote its log. */
const mayEndServer = /^(53|58|XX)/;

interface Session extends DatabaseConnection {
  client: pg.PoolClient;
  openedAtMs: number;
  isInTransaction: boolean;
  /** Whether another connection may be better. */
  isOutdated: boolean;
  /** Why nothing may be sent on it any more. */
  failure: unknown;
}

/**
 * Kysely's driver would hand out a connection again after a statement on it timed out or its rollback failed: the transaction
 * of the caller before stays open on it, and what the next ones commit is in that transaction, and is lost with it. Here a
 * connection whose state is not known is cut at once, so that the server takes back what was under way, and no statement ever
 * runs on it again.
 */
export function postgresDriver(pool: pg.Pool, onAnswer: () => void = () => {}): Driver {
  const sessions = new Map<pg.PoolClient, Session>();
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  let inUse = 0;
  let onUnused: (() => void) | undefined;

  pool.on("connect", (client) => {
    const session = openSession(client, () => {
      answeredAtMs = performance.now();
      onAnswer();
    });
    sessions.set(client, session);
    // The pool listens only to connections that nobody uses. One that dies in use fails the statement that uses it; without
    // a listener of its own it would end the process as well.
    client.on("error", (error) => {
      session.failure ??= error;
    });
    client.on("end", () => {
      session.failure ??= new Error("the connection ended");
      sessions.delete(client);
    });
  });

  function leave(): void {
    inUse -= 1;
    if (inUse === 0) onUnused?.();
  }

  /** Whether others had all the connections, and the server answered them meanwhile. One that is silent is out of order. */
  function isBusy(sinceMs: number): boolean {
    const sound = sessions.values().reduce((sum, { failure }) => sum + Number(failure === undefined), 0);
    return sound >= pool.options.max && answeredAtMs > sinceMs;
  }

  return {
    async init() {},

    async acquireConnection() {
      inUse += 1;
      const askedAtMs = performance.now();
      try {
        const client = await pool.connect();
        const session = sessions.get(client);
        if (session !== undefined) return session;
        client.release(true);
        throw new Error("the connection ended");
      } catch (error) {
        leave();
        throw isBusy(askedAtMs) ? storeBusy(error) : storeUnavailable(error);
      }
    },

    async beginTransaction(connection) {
      const session = connection as Session;
      await send(session, CompiledQuery.raw("begin"), "harmless");
      session.isInTransaction = true;
    },

    async commitTransaction(connection) {
      const session = connection as Session;
      const { command } = await send(session, CompiledQuery.raw("commit"), "keeps");
      session.isInTransaction = false;
      // So the server answers where a statement failed and nobody told of it.
      if (command !== "COMMIT")
        throw storeUnavailable(new Error("The transaction was taken back: a statement in it had failed"));
    },

    async rollbackTransaction(connection) {
      const session = connection as Session;
      // Cut connections roll back by themselves; what made the transaction fail is what the caller hears.
      if (session.failure !== undefined || !session.isInTransaction) return;
      session.isInTransaction = false;
      await send(session, CompiledQuery.raw("rollback"), "harmless").catch(() => {});
    },

    async releaseConnection(connection) {
      const session = connection as Session;
      const { client } = session;
      const isClean = session.failure === undefined && client.getTransactionStatus() === "I";
      if (!isClean) cut(session, session.failure ?? new Error("its transaction did not end"));
      client.release(!isClean || session.isOutdated);
      leave();
    },

    async destroy() {
      const ended = pool.end();
      // Each of them ends, by its time limits if by nothing else.
      if (inUse > 0) await new Promise<void>((resolve) => (onUnused = resolve));
      // A peer that is silent never says its farewell, and would be waited for without end.
      const deadlineMs = performance.now() + farewellMs;
      while (sessions.size > 0 && performance.now() < deadlineMs) await Bun.sleep(5);
      for (const session of sessions.values()) session.client.connection.stream.destroy();
      await ended;
    },
  };
}

function openSession(client: pg.PoolClient, onAnswer: () => void): Session {
  const session: Session = {
    client,
    openedAtMs: performance.now(),
    isInTransaction: false,
    isOutdated: false,
    failure: undefined,
    async executeQuery<Row>(query: CompiledQuery) {
      const keeps = !session.isInTransaction && !isRead(query);
      const { command, rowCount, rows } = await send(session, query, keeps ? "keeps" : "harmless");
      onAnswer();
      return {
        rows: rows as Row[],
        ...(changing.has(command) ? { numAffectedRows: BigInt(rowCount ?? 0) } : {}),
      };
    },
    streamQuery() {
      throw new Error("A statement answers with all its rows at once");
    },
  };
  return session;
}

const changing = new Set(["INSERT", "UPDATE", "DELETE", "MERGE"]);

function isRead({ query, sql }: CompiledQuery): boolean {
  return query.kind === "SelectQueryNode" || (query.kind === "RawNode" && /^\s*(select|show)\b/i.test(sql));
}

/** Sends a statement. One that «keeps» makes changes last: if its answer does not come, nobody knows whether it has. */
async function send(
  session: Session,
  { sql, parameters }: CompiledQuery,
  effect: "keeps" | "harmless",
): Promise<pg.QueryResult> {
  const { client } = session;
  if (session.failure !== undefined) throw storeUnavailable(session.failure);
  try {
    return await client.query(sql, [...parameters]);
  } catch (error) {
    const code = error instanceof pg.DatabaseError ? (error.code ?? "") : undefined;
    // After a failover the name leads to another server, but not a connection that is there already.
    session.isOutdated ||= code === readOnly && performance.now() - session.openedAtMs > exchangeAfterMs;
    // The server refused the statement, and the connection is as good as it was.
    if (code !== undefined && !endsConnection.test(code)) {
      if (effect === "harmless" || !mayEndServer.test(code) || (await answers(client))) throw error;
    }
    cut(session, error);
    // Not the store's failure but a parameter that cannot be sent.
    if (error instanceof TypeError || error instanceof RangeError) throw error;
    throw effect === "keeps" && code !== idledAway ? storeUncertain(error) : storeUnavailable(error);
  }
}

async function answers(client: pg.PoolClient): Promise<boolean> {
  return await client.query("select 1").then(
    () => true,
    () => false,
  );
}

/** At once and without a farewell: the server takes back what was under way. */
function cut(session: Session, failure: unknown): void {
  session.failure = failure;
  session.client.connection.stream.destroy();
}
