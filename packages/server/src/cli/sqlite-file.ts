import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { isInMemory, isSqlite, sqlitePath } from "../platform/storage/sqlite.ts";
import { CommandError } from "./command-error.ts";

/** The configured database's file; throws a `CommandError` if there is none. `postgresTool` is what to use instead. */
export function sqliteFile({ databaseUrl }: Config, postgresTool: string): string {
  if (isInMemory(databaseUrl)) {
    throw new CommandError("PRESAGE_DATABASE_URL is sqlite::memory:, a database that no other process sees.");
  }
  if (!isSqlite(databaseUrl)) {
    throw new CommandError(
      `PRESAGE_DATABASE_URL is a PostgreSQL database, which has tools of its own: ${postgresTool}. See docs/operating.md, "Backup".`,
    );
  }
  return resolve(sqlitePath(databaseUrl));
}

/** A size as people read it. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
