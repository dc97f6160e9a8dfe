import { Migrator, sql } from "kysely";
import { migrations } from "./migrations/index.ts";
import type { Database } from "./schema/tables.ts";

/** The database was migrated by a newer version of Presage. */
export class NewerSchemaError extends Error {
  constructor(unknownMigrations: string[]) {
    super(
      `The database is newer than this version of Presage, which does not know its migrations ${unknownMigrations.join(", ")}. ` +
        "Start the version that applied them, or a later one.",
    );
    this.name = "NewerSchemaError";
  }
}

/**
 * Brings the schema up to date and returns the names of the migrations that ran. When several processes start at once, one
 * migrates under the database's lock and the others wait.
 */
export async function migrate(database: Database): Promise<string[]> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => migrations } });
  const { error, results } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const unknown = await unknownMigrations(database).catch(() => []);
    throw unknown.length > 0 ? new NewerSchemaError(unknown) : error;
  }
  return (results ?? []).map((result) => result.migrationName);
}

async function unknownMigrations(database: Database): Promise<string[]> {
  const executed = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    database,
  );
  return executed.rows.map((row) => row.name).filter((name) => !Object.hasOwn(migrations, name));
}
