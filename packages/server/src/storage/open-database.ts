import { Kysely } from "kysely";
import { migrate } from "./migrate.ts";
import { postgresDialect } from "./postgres-dialect.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";
import type { Database, Tables } from "./tables.ts";

const sqliteScheme = "sqlite:";
const queryTimeoutMs = 10_000;

export interface OpenedDatabase {
  database: Database;
  /** The migrations that this start ran. */
  migrated: string[];
}

/** Opens the database at `url` (`sqlite:PATH`, `sqlite::memory:` or `postgres://…`) and brings its schema up to date. */
export async function openDatabase(
  url: string,
  onConnectionLost: (error: Error) => void,
): Promise<OpenedDatabase> {
  if (url.startsWith(sqliteScheme)) {
    const database = new Kysely<Tables>({ dialect: sqliteDialect(url.slice(sqliteScheme.length)) });
    return { database, migrated: await migrate(database) };
  }
  // A migration of a large table may take longer than any other statement should.
  const migrating = new Kysely<Tables>({ dialect: postgresDialect(url, { onConnectionLost }) });
  const migrated = await migrate(migrating).finally(() => migrating.destroy());
  const database = new Kysely<Tables>({
    dialect: postgresDialect(url, { queryTimeoutMs, onConnectionLost }),
  });
  return { database, migrated };
}
