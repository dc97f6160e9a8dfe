import type { DatabaseConnection, Dialect, Driver } from "kysely";
import { Kysely } from "kysely";
import { createFairSlots, type FairSlotLimits } from "../limits/fair-slots.ts";
import type { Database, Tables } from "./schema/tables.ts";

/** On whose behalf the database is read, and until when anybody wants the answer. */
export interface Asker {
  accountId: string;
  signal: AbortSignal;
}

/** The database as one asker reads it. */
export type Reader = (asker: Asker) => Database;

/** The database as one asker changes it. */
export type Writer = (asker: Asker) => Database;

export interface ClosableReader {
  reader: Reader;
  /** Closes every connection, once. */
  destroy(): Promise<void>;
}

/**
 * A reader whose connections the accounts get in turns. A statement whose asker has gone is not begun; one that runs is
 * left to the time limit of the database.
 */
export function createReader(dialect: Dialect, limits: FairSlotLimits): ClosableReader {
  const { open, destroy } = openInTurns(dialect, limits, ({ signal }) => signal);
  return { reader: open, destroy };
}

/**
 * A writer whose askers wait for their turn before they have a connection, not with one in hand. One who has gone leaves the
 * line; what has begun is finished. `dialect` gives its connections to others as well, who close them.
 */
export function createWriter(dialect: Dialect, limits: FairSlotLimits): Writer {
  const never = new AbortController().signal;
  return openInTurns(dialect, limits, () => never).open;
}

/** `stopsOn` says what keeps the next statement of an asker from being begun. */
function openInTurns(
  dialect: Dialect,
  limits: FairSlotLimits,
  stopsOn: (asker: Asker) => AbortSignal,
): { open(asker: Asker): Database; destroy(): Promise<void> } {
  const slots = createFairSlots(limits);
  const shared = dialect.createDriver();
  const initialised = shared.init();
  const compiler = dialect.createQueryCompiler();
  const adapter = dialect.createAdapter();
  let destroyed: Promise<void> | undefined;

  async function connect(asker: Asker): Promise<HeldConnection> {
    await initialised;
    const release = await slots.take(asker.accountId, asker.signal);
    try {
      if (destroyed !== undefined) throw new Error("The reader has been destroyed");
      return holdConnection(await shared.acquireConnection(), stopsOn(asker), release);
    } catch (error) {
      release();
      throw error;
    }
  }

  function driverFor(asker: Asker): Driver {
    const held = new WeakMap<DatabaseConnection, HeldConnection>();
    const innerOf = (connection: DatabaseConnection) => held.get(connection)?.inner ?? connection;
    return {
      async init() {},
      async acquireConnection() {
        const connection = await connect(asker);
        held.set(connection, connection);
        return connection;
      },
      async releaseConnection(connection) {
        try {
          await shared.releaseConnection(innerOf(connection));
        } finally {
          held.get(connection)?.release();
        }
      },
      beginTransaction: (connection, settings) => shared.beginTransaction(innerOf(connection), settings),
      commitTransaction: (connection) => shared.commitTransaction(innerOf(connection)),
      rollbackTransaction: (connection) => shared.rollbackTransaction(innerOf(connection)),
      async destroy() {},
    };
  }

  return {
    open: (asker) =>
      new Kysely<Tables>({
        dialect: {
          createDriver: () => driverFor(asker),
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

interface HeldConnection extends DatabaseConnection {
  inner: DatabaseConnection;
  release(): void;
}

/** A connection on which no statement begins once the signal is aborted. */
function holdConnection(inner: DatabaseConnection, signal: AbortSignal, release: () => void): HeldConnection {
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
