import type { Database as BunDatabase, SQLQueryBindings } from "bun:sqlite";
import {
  type Driver,
  SqliteAdapter,
  SqliteDialect,
  type SqliteDialectConfig,
  type SqliteStatement,
} from "kysely";
import { isDiskFailure, storeUncertain } from "../store-error.ts";
import { openSqlite } from "./open-sqlite.ts";
import { waitForLocks } from "./sqlite-driver.ts";

/** Kysely's SQLite dialect over Bun's driver, on the thread that asks. */
export function sqliteDialect(path: string, onAnswer: () => void = () => {}): SqliteDialect {
  const database = openSqlite(path);
  // While it opened, nothing else ran that could be held up. From here on a lock is waited for outside of SQLite.
  database.run("PRAGMA busy_timeout = 0");
  const config = {
    database: {
      close: () => database.close(),
      prepare: (sql: string) => toKyselyStatement(database, sql),
    },
  };
  return new PresageSqliteDialect(config, onAnswer);
}

/**
 * SQLite changes its schema inside transactions, which Kysely makes no use of. With it, a migration happens whole or not
 * at all, and of several processes one migrates while the others wait.
 */
class PresageSqliteDialect extends SqliteDialect {
  readonly #onAnswer: () => void;

  constructor(config: SqliteDialectConfig, onAnswer: () => void) {
    super(config);
    this.#onAnswer = onAnswer;
  }

  override createDriver(): Driver {
    return waitForLocks(super.createDriver(), this.#onAnswer);
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

const isRead = /^\s*(select|with|pragma)\b/i;

function toKyselyStatement(database: BunDatabase, sql: string): SqliteStatement {
  // A transaction that begins by reading and then writes fails at once if another process wrote in between;
  // one that takes the write lock at its start waits for its turn.
  const statement = database.query(sql === "begin" ? "begin immediate" : sql);
  const bindings = (parameters: ReadonlyArray<unknown>) => parameters as SQLQueryBindings[];

  /** A disk that fails while changes are made to last may have them all the same, for whoever opens the file next. */
  function confirmed<Result>(execute: () => Result): Result {
    const keeps = sql === "commit" || !(database.inTransaction || isRead.test(sql));
    try {
      return execute();
    } catch (error) {
      throw keeps && isDiskFailure(error) ? storeUncertain(error) : error;
    }
  }

  return {
    reader: statement.columnNames.length > 0,
    all: (parameters) => confirmed(() => statement.all(...bindings(parameters))),
    run(parameters) {
      // SQLite itself takes back a transaction that it cannot go on with, such as one that finds the disk full.
      // To fail at taking it back again would hide that.
      if (sql === "rollback" && !database.inTransaction) return { changes: 0, lastInsertRowid: 0 };
      return confirmed(() => statement.run(...bindings(parameters)));
    },
    iterate: (parameters) => statement.iterate(...bindings(parameters)),
  };
}
