import { Kysely } from "kysely";
import type { Database, Tables } from "../schema/tables.ts";
import { readBesideWrites } from "./read-beside-writes.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";

/** The SQLite database at `path`, as it is. `onAnswer` hears of each statement that was answered. */
export function openSqliteDatabase(path: string, onAnswer?: () => void): Database {
  const dialect = sqliteDialect(path, onAnswer);
  // A database in memory is its one connection's own.
  return new Kysely<Tables>({
    dialect: path === ":memory:" ? dialect : readBesideWrites(dialect, path, onAnswer),
  });
}
