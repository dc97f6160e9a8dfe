import { Database as BunDatabase, type SQLQueryBindings } from "bun:sqlite";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type Driver, SqliteAdapter, SqliteDialect, type SqliteStatement } from "kysely";
import { waitForLocks } from "./wait-for-locks.ts";

/** How long opening waits for another process. Nothing else runs yet that could be held up. */
const openTimeoutMs = 5_000;

/** Kysely's SQLite dialect over Bun's driver, set up so that a commit that returned is on disk. */
export function sqliteDialect(path: string): SqliteDialect {
  if (path !== ":memory:") prepareFile(path);
  const database = new BunDatabase(path, { create: true, strict: true });
  database.run(`PRAGMA busy_timeout = ${openTimeoutMs}`);
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = FULL");
  database.run("PRAGMA foreign_keys = ON");
  // From here on a lock is waited for outside of SQLite, which would hold up the whole process meanwhile.
  database.run("PRAGMA busy_timeout = 0");
  return new PresageSqliteDialect({
    database: {
      close: () => database.close(),
      prepare: (sql) => toKyselyStatement(database, sql),
    },
  });
}

/** Makes the file for its owner's eyes only: it holds the secret under which keys are digested. */
function prepareFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  closeSync(openSync(path, "a", 0o600));
}

/**
 * SQLite changes its schema inside transactions, which Kysely makes no use of. With it, a migration happens whole or not
 * at all, and of several processes one migrates while the others wait.
 */
class PresageSqliteDialect extends SqliteDialect {
  override createDriver(): Driver {
    return waitForLocks(super.createDriver());
  }

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
