import { Kysely } from "kysely";
import { sqliteDialect } from "./sqlite-dialect.ts";
import type { Database, Tables } from "./tables.ts";

/** The SQLite database at `path`, as it is. `onAnswer` hears of each statement that was answered. */
export function openSqliteDatabase(path: string, onAnswer?: () => void): Database {
  return new Kysely<Tables>({ dialect: sqliteDialect(path, onAnswer) });
}
