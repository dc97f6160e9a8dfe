import { Kysely } from "kysely";
import { readBesideWrites } from "./read-beside-writes.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";
import type { Database, Tables } from "./tables.ts";

/** The SQLite database at `path`, as it is. */
export function openSqliteDatabase(path: string): Database {
  const dialect = sqliteDialect(path);
  // A database in memory is its one connection's own.
  return new Kysely<Tables>({ dialect: path === ":memory:" ? dialect : readBesideWrites(dialect, path) });
}
