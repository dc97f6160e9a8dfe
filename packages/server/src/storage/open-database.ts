import { Kysely } from "kysely";
import { migrate, NewerSchemaError } from "./migrate.ts";
import { sqliteDialect } from "./sqlite-dialect.ts";
import type { Database, Tables } from "./tables.ts";

const sqliteScheme = "sqlite:";
const queryTimeoutMs = 10_000;

/** The database cannot be opened, for the reason that the message gives. */
export class OpenDatabaseError extends Error {
  constructor(cause: unknown) {
    const reason = cause instanceof Error && cause.message !== "" ? cause.message : "no answer";
    super(`The database cannot be opened (PRESAGE_DATABASE_URL): ${reason}`, { cause });
    this.name = "OpenDatabaseError";
  }
}

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
  try {
    return await connectAndMigrate(url, onConnectionLost);
  } catch (error) {
    throw error instanceof NewerSchemaError ? error : new OpenDatabaseError(error);
  }
}

async function connectAndMigrate(
  url: string,
  onConnectionLost: (error: Error) => void,
): Promise<OpenedDatabase> {
  if (url.startsWith(sqliteScheme)) {
    const database = new Kysely<Tables>({ dialect: sqliteDialect(url.slice(sqliteScheme.length)) });
    return { database, migrated: await migrate(database) };
  }
  const { postgresDialect } = await import("./postgres-dialect.ts");
  // A migration of a large table may take longer than any other statement should.
  const migrating = new Kysely<Tables>({ dialect: postgresDialect(url, { onConnectionLost }) });
  const migrated = await migrate(migrating).finally(() => migrating.destroy());
  const database = new Kysely<Tables>({
    dialect: postgresDialect(url, { queryTimeoutMs, onConnectionLost }),
  });
  return { database, migrated };
}
