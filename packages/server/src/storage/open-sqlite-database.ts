import { Kysely, type LogEvent } from "kysely";
import { sqliteDialect } from "./sqlite-dialect.ts";
import type { Database, Tables } from "./tables.ts";

/** The SQLite database at `path`, as it is. */
export function openSqliteDatabase(path: string, log?: (event: LogEvent) => void): Database {
  return new Kysely<Tables>({ dialect: sqliteDialect(path), ...(log === undefined ? {} : { log }) });
}
