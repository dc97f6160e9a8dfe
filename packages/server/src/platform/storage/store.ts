import { type DatabaseConnection, type Dialect, type Driver, Kysely, PostgresAdapter, sql } from "kysely";
import { ServiceError } from "../errors.ts";
import { neverAborted } from "../limits/deadline.ts";
import { createFairSlots, type FairSlotLimits, type QueueLimits } from "../limits/turns.ts";
import type { Database, Tables } from "./schema/tables.ts";

export function isPostgres(db: Pick<Kysely<unknown>, "getExecutor">): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}

/** How long a transaction waits for the file that it reads or writes, which may be a pipe. */
export const longestPauseMs = 10 * 60_000;

/** Lets a transaction wait for a file. */
export async function allowPauses(transaction: Database): Promise<void> {
  if (isPostgres(transaction))
    await sql`set local idle_in_transaction_session_timeout = ${sql.lit(longestPauseMs)}`.execute(
      transaction,
    );
}

/** The account on whose behalf the database is used, and until when the result is wanted. */
export interface Requester {
  accountId: string;
  signal: AbortSignal;
  /** About how many rows a read is for: reads of the same account for far more rows wait behind it. Absent: as many as a long page has. */
  rows?: number;
}

/** The database for one requester. */
type OpenFor = (requester: Requester) => Database;

/** The database through connections for different kinds of operations. */
export interface Store {
  readonly database: Database;
  /** For reads that may take long; they delay nothing else. Sees committed data. */
  readonly reader: OpenFor;
  /** For reads of a few milliseconds that must neither block the main thread nor wait for `reader`. */
  readonly briefReader: OpenFor;
  /** For changes that may wait for locked rows. Takes turns by what is locked: an account, or one of its users. */
  readonly writer: OpenFor;
}

/** Makes a requester's changes, all or none. */
export async function inTransaction<Result>(
  { writer }: Pick<Store, "writer">,
  requester: Requester,
  change: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  return await writer(requester).transaction().execute(change);
}

/** A database whose schema is up to date. */
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
  /** Set if nobody else waits, as in a command: an SQLite file is read without threads, which take longer to start than most reads. */
  readsInPlace?: boolean;
}

/** What an upgrade of the schema has done. */
export interface Migrated {
  /** The names of the migrations that ran. */
  applied: string[];
  /** Migrations of a newer version, which states that this version may run next to it. */
  newer: string[];
}

const rowsOfLongPage = 1_000;

/** The limit for one account. */
const maxWaitingReads = 1_000;
const maxReadWaitMs = 60_000;

/** How reads wait for a connection. */
export const readerQueue: QueueLimits = {
  maxWaitingEach: maxWaitingReads,
  maxWaitMs: maxReadWaitMs,
  refuse: (why) =>
    new ServiceError(
      "overloaded",
      why === "queue full"
        ? "Too many reads of this account are waiting. Try again when some of them have finished."
        : `The read could not start within ${maxReadWaitMs / 1000} s, because earlier reads took too long. Try again later.`,
      { retryAfterS: 1 },
    ),
};

/**
 * A reader whose connections accounts take in turns. No statement starts after the requester's signal is aborted; a running one ends
 * by itself or by the database's time limit.
 */
export function createReader(dialect: Dialect, limits: FairSlotLimits) {
  const { open: reader, destroy } = openInTurns(dialect, limits, ({ signal }) => signal);
  return { reader, destroy };
}

/**
 * A writer whose requesters wait for their turn before they acquire a connection. An aborted signal ends the wait; work that has
 * started is finished. The connections of `dialect` are shared, so the writer does not close them.
 */
export function createWriter(dialect: Dialect, limits: FairSlotLimits): OpenFor {
  return openInTurns(dialect, limits, () => neverAborted).open;
}

/** Once the signal of `stopsOn` is aborted, no further statement of the requester starts. */
function openInTurns(
  dialect: Dialect,
  limits: FairSlotLimits,
  stopsOn: (requester: Requester) => AbortSignal,
): { open(requester: Requester): Database; destroy(): Promise<void> } {
  const slots = createFairSlots(limits);
  const shared = dialect.createDriver();
  const initialised = shared.init();
  const compiler = dialect.createQueryCompiler();
  const adapter = dialect.createAdapter();
  let destroyed: Promise<void> | undefined;

  async function connect(requester: Requester): Promise<SlotConnection> {
    await initialised;
    const { accountId, signal, rows = rowsOfLongPage } = requester;
    const release = await slots.take(accountId, signal, rows);
    try {
      if (destroyed !== undefined) throw new Error("The reader has been destroyed");
      return slotConnection(await shared.acquireConnection(), stopsOn(requester), release);
    } catch (error) {
      release();
      throw error;
    }
  }

  function driverFor(requester: Requester): Driver {
    const connections = new WeakMap<DatabaseConnection, SlotConnection>();
    const innerOf = (connection: DatabaseConnection) => connections.get(connection)?.inner ?? connection;
    return {
      async init() {},
      async acquireConnection() {
        const connection = await connect(requester);
        connections.set(connection, connection);
        return connection;
      },
      async releaseConnection(connection) {
        try {
          await shared.releaseConnection(innerOf(connection));
        } finally {
          connections.get(connection)?.release();
        }
      },
      beginTransaction: (connection, settings) => shared.beginTransaction(innerOf(connection), settings),
      commitTransaction: (connection) => shared.commitTransaction(innerOf(connection)),
      rollbackTransaction: (connection) => shared.rollbackTransaction(innerOf(connection)),
      async destroy() {},
    };
  }

  return {
    open: (requester) =>
      new Kysely<Tables>({
        dialect: {
          createDriver: () => driverFor(requester),
          createQueryCompiler: () => compiler,
          createAdapter: () => adapter,
          createIntrospector: (database) => dialect.createIntrospector(database),
        },
      }),
    destroy() {
      destroyed ??= initialised.then(() => shared.destroy());
      return destroyed;
    },
  };
}

interface SlotConnection extends DatabaseConnection {
  inner: DatabaseConnection;
  release(): void;
}

/** A connection on which no statement starts once the signal is aborted. */
function slotConnection(inner: DatabaseConnection, signal: AbortSignal, release: () => void): SlotConnection {
  return {
    inner,
    release,
    async executeQuery(query) {
      signal.throwIfAborted();
      return await inner.executeQuery(query);
    },
    streamQuery(query, chunkSize) {
      signal.throwIfAborted();
      return inner.streamQuery(query, chunkSize);
    },
  };
}
