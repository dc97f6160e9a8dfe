import type { Database as BunDatabase, SQLQueryBindings } from "bun:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  SelectQueryNode,
} from "kysely";
import { openSqliteReader } from "./open-sqlite.ts";
import type { Database, Tables } from "./schema/tables.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";
import { isDatabaseLocked } from "./store-error.ts";
import { createWriteTurn, type WriterData, type WriteTurn } from "./write-turn.ts";

/** The database for a thread that only writes. Its transactions begin in their turn among those of the other threads. */
export function openSqliteWriter({ path, turn }: WriterData): Database {
  return openSqliteDatabase(path, undefined, createWriteTurn(turn));
}

/**
 * The same for a thread that no one waits for, and that repeats its work if a power failure undoes it. It gives way to the others,
 * and in its turn neither waits for the disk nor copies the log into the file: see `copyLog`.
 */
export function openSqliteBackgroundWriter({ path, turn }: WriterData): Database {
  return openSqliteDatabase(path, undefined, createWriteTurn(turn, { givesWay: true }));
}

/** The SQLite database at `path`, without migrating it. `onSuccess` is called after each successful statement. */
export function openSqliteDatabase(
  path: string,
  onSuccess: () => void = () => {},
  turn?: WriteTurn,
): Database {
  const dialect = sqliteDialect(path, onSuccess, turn);
  // An in-memory database belongs to its one connection.
  return new Kysely<Tables>({
    dialect: path === ":memory:" ? dialect : readBesideWrites(dialect, path, onSuccess),
  });
}

/**
 * Adds a second connection for reads outside transactions. A write that waits for the file's lock occupies the first one, while
 * SQLite itself lets reads pass.
 */
function readBesideWrites(dialect: Dialect, path: string, onSuccess: () => void): Dialect {
  return { ...dialect, createDriver: () => besideDriver(dialect.createDriver(), path, onSuccess) };
}

function besideDriver(driver: Driver, path: string, onSuccess: () => void): Driver {
  const writers = new WeakMap<DatabaseConnection, () => Promise<DatabaseConnection> | undefined>();
  let reader: BunDatabase | undefined;

  function read(sql: string, parameters: readonly unknown[]): unknown[] {
    reader ??= openImpatientReader(path);
    const rows = reader.query(sql).all(...(parameters as SQLQueryBindings[]));
    onSuccess();
    return rows;
  }

  /** Acquires the writing connection with the first write. */
  function connect(): DatabaseConnection {
    let writer: Promise<DatabaseConnection> | undefined;

    function acquireWriter(): Promise<DatabaseConnection> {
      writer ??= driver.acquireConnection();
      return writer;
    }

    const connection: DatabaseConnection = {
      async executeQuery<Row>(query: CompiledQuery) {
        if (writer === undefined && SelectQueryNode.is(query.query)) {
          try {
            return { rows: read(query.sql, query.parameters) as Row[] };
          } catch (error) {
            if (!isDatabaseLocked(error)) throw error;
          }
        }
        return await (await acquireWriter()).executeQuery<Row>(query);
      },
      async *streamQuery(query, chunkSize) {
        yield* (await acquireWriter()).streamQuery(query, chunkSize);
      },
    };
    writers.set(connection, () => writer);
    return connection;
  }

  return {
    init: () => driver.init(),
    acquireConnection: async () => connect(),
    async releaseConnection(connection) {
      const writer = writers.get(connection)?.();
      if (writer !== undefined) await driver.releaseConnection(await writer);
    },
    beginTransaction: (connection, settings) => driver.beginTransaction(connection, settings),
    commitTransaction: (connection) => driver.commitTransaction(connection),
    rollbackTransaction: (connection) => driver.rollbackTransaction(connection),
    async destroy() {
      reader?.close();
      await driver.destroy();
    },
  };
}

/** Locks that block even reads, such as another process recovering the file, are waited for on the writing connection. */
function openImpatientReader(path: string): BunDatabase {
  const reader = openSqliteReader(path);
  reader.run("PRAGMA busy_timeout = 0");
  return reader;
}
