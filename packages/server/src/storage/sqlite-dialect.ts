import { Database as BunDatabase, type SQLQueryBindings } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { SqliteAdapter, SqliteDialect, type SqliteStatement } from "kysely";

/** How long a statement waits for another process to finish its write. */
const busyTimeoutMs = 5_000;

/** Kysely's SQLite dialect over Bun's driver, set up so that a commit that returned is on disk. */
export function sqliteDialect(path: string): SqliteDialect {
  if (path !== ":memory:") mkdirSync(dirname(path), { recursive: true });
  const database = new BunDatabase(path, { create: true, strict: true });
  database.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run("PRAGMA foreign_keys = ON");
  return new DialectWithTransactionalSchema({
    database: {
      close: () => database.close(),
      prepare: (sql) => toKyselyStatement(database, sql),
    },
  });
}

/**
 * SQLite changes its schema inside transactions, which Kysely makes no use of. With it, a migration happens whole or not
 * at all, and of several processes one migrates while the others wait.
 */
class DialectWithTransactionalSchema extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new AdapterWithTransactionalSchema();
  }
}

class AdapterWithTransactionalSchema extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

function toKyselyStatement(database: BunDatabase, sql: string): SqliteStatement {
  // A transaction that begins by reading and then writes fails at once if another process wrote in between;
  // one that takes the write lock at its start waits for its turn.
  const statement = database.query(sql === "begin" ? "begin immediate" : sql);
  const bindings = (parameters: ReadonlyArray<unknown>) => parameters as SQLQueryBindings[];
  return {
    reader: statement.columnNames.length > 0,
    all: (parameters) => statement.all(...bindings(parameters)),
    run: (parameters) => statement.run(...bindings(parameters)),
    iterate: (parameters) => statement.iterate(...bindings(parameters)),
  };
}
