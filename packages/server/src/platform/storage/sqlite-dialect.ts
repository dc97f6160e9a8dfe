import { type Dialect, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { openSqlite } from "./open-sqlite.ts";
import { RetryingSqliteDriver } from "./sqlite-driver.ts";
import type { WriteTurn } from "./write-turn.ts";

/** Kysely's SQLite dialect over Bun's driver, on the calling thread. */
export function sqliteDialect(path: string, onSuccess: () => void = () => {}, turn?: WriteTurn): Dialect {
  const database = openSqlite(path);
  // SQLite itself waited for locks while the file was opened, when there was no work to block. From here on the driver does.
  database.run("PRAGMA busy_timeout = 0");
  if (turn?.givesWay === true) {
    database.run("PRAGMA wal_autocheckpoint = 0");
    database.run("PRAGMA synchronous = NORMAL");
  }
  return {
    createAdapter: () => new TransactionalSchemaAdapter(),
    createDriver: () => new RetryingSqliteDriver(database, onSuccess, turn),
    createIntrospector: (kysely) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

/**
 * SQLite can change its schema in transactions; Kysely does not use that by default. With it a migration happens completely or
 * not at all, and of several processes one migrates while the others wait.
 */
class TransactionalSchemaAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}
