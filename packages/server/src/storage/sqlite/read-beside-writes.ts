import type { Database as BunDatabase, SQLQueryBindings } from "bun:sqlite";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  SelectQueryNode,
} from "kysely";
import { openSqlite } from "./open-sqlite.ts";

/**
 * The same dialect of the file at `path`, with a second connection for reads outside of transactions. A write that waits for the
 * file's lock holds the first one; SQLite itself lets reads go past it.
 */
export function readBesideWrites(dialect: Dialect, path: string, onAnswer?: () => void): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => besideDriver(dialect.createDriver(), path, onAnswer),
    createIntrospector: (database) => dialect.createIntrospector(database),
    createQueryCompiler: () => dialect.createQueryCompiler(),
  };
}

function besideDriver(driver: Driver, path: string, onAnswer: (() => void) | undefined): Driver {
  const taken = new WeakMap<DatabaseConnection, () => Promise<DatabaseConnection> | undefined>();
  let reader: BunDatabase | undefined;

  function read(sql: string, parameters: readonly unknown[]): unknown[] {
    reader ??= openReader(path);
    const rows = reader.query(sql).all(...(parameters as SQLQueryBindings[]));
    onAnswer?.();
    return rows;
  }

  /** Takes the connection that writes once there is something to write. */
  function connect(): DatabaseConnection {
    let writer: Promise<DatabaseConnection> | undefined;

    function takeWriter(): Promise<DatabaseConnection> {
      writer ??= driver.acquireConnection();
      return writer;
    }

    const connection: DatabaseConnection = {
      async executeQuery<Row>(query: CompiledQuery) {
        if (writer === undefined && SelectQueryNode.is(query.query)) {
          try {
            return { rows: read(query.sql, query.parameters) as Row[] };
          } catch (error) {
            if (!isBusy(error)) throw error;
          }
        }
        return await (await takeWriter()).executeQuery<Row>(query);
      },
      async *streamQuery(query, chunkSize) {
        yield* (await takeWriter()).streamQuery(query, chunkSize);
      },
    };
    taken.set(connection, () => writer);
    return connection;
  }

  return {
    init: () => driver.init(),
    acquireConnection: async () => connect(),
    async releaseConnection(connection) {
      const writer = taken.get(connection)?.();
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

function openReader(path: string): BunDatabase {
  const reader = openSqlite(path);
  reader.run("PRAGMA query_only = ON");
  // What holds even reads up, such as another process that recovers the file, is waited for by the connection that writes.
  reader.run("PRAGMA busy_timeout = 0");
  return reader;
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY");
}
