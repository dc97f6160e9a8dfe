import { connectSqlite, inMemoryPath } from "./connect-sqlite.ts";
import { type Migrated, NewerSchemaError } from "./migrate.ts";
import { NoDatabaseError, OpenDatabaseError } from "./open-database-error.ts";
import { openSqliteDatabase } from "./open-sqlite-database.ts";
import type { Database } from "./schema/tables.ts";
import type { Store } from "./store.ts";

const sqliteScheme = "sqlite:";

export function isSqlite(url: string): boolean {
  return url.startsWith(sqliteScheme);
}

/** The file of a database at an SQLite URL. */
export function sqlitePath(url: string): string {
  return url.slice(sqliteScheme.length);
}

/** An in-memory database: every process has its own, which is lost when it ends. */
export const inMemoryUrl = sqliteScheme + inMemoryPath;

export function isInMemory(url: string): boolean {
  return url === inMemoryUrl;
}

export interface OpenedDatabase extends Store {
  /** The SQLite file, if there is one. */
  sqlitePath: string | undefined;
  migrated: Migrated;
  /** Finishes the statements in progress and closes all connections. */
  destroy(): Promise<void>;
}

export interface OpenOptions {
  /** Throws a `NoDatabaseError` instead of creating a database. */
  mustExist?: boolean;
}

/**
 * Opens the database at `url` (`sqlite:PATH`, `sqlite::memory:` or `postgres://…`) and brings its schema up to date.
 * `onConnectionLost` is called when an idle connection is lost, `onSuccess` after each successful statement.
 */
export async function openDatabase(
  url: string,
  onConnectionLost: (error: Error) => void,
  onSuccess: () => void = () => {},
  options: OpenOptions = {},
): Promise<OpenedDatabase> {
  try {
    const { closeReaders, ...opened } = isSqlite(url)
      ? await connectSqlite(sqlitePath(url), onSuccess, options)
      : await (await import("./connect-postgres.ts")).connectPostgres(
          url,
          { onConnectionLost, onSuccess },
          options,
        );
    return {
      ...opened,
      async destroy() {
        await closeReaders();
        await opened.database.destroy();
      },
    };
  } catch (error) {
    if (error instanceof NewerSchemaError || error instanceof NoDatabaseError) throw error;
    throw new OpenDatabaseError(error);
  }
}

/** The database at `url`, whose schema is up to date, on one connection: for a thread. */
export async function openThreadDatabase(url: string): Promise<Database> {
  if (isSqlite(url)) return openSqliteDatabase(sqlitePath(url));
  const { connectPostgresOnce } = await import("./connect-postgres.ts");
  return connectPostgresOnce(url);
}

/** A database whose schema is up to date. */
export interface Connected extends Omit<OpenedDatabase, "destroy"> {
  closeReaders(): Promise<void>;
}
