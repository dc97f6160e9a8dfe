import { Kysely, Migrator } from "kysely";
import { migrations } from "../../../src/platform/storage/migrations/index.ts";
import { postgresDialect } from "../../../src/platform/storage/postgres/postgres-driver.ts";
import { sqliteDialect } from "../../../src/platform/storage/sqlite/sqlite-driver.ts";
import { openSqlite } from "../../../src/platform/storage/sqlite/sqlite-file.ts";

/** Opens the database without migrating it. */
export function openRaw(databaseUrl: string): Kysely<unknown> {
  return new Kysely<unknown>({
    dialect: databaseUrl.startsWith("sqlite:")
      ? sqliteDialect(openSqlite(databaseUrl.slice("sqlite:".length)))
      : postgresDialect(databaseUrl, { onConnectionLost() {} }),
  });
}

/** Opens an empty database and brings it to the schema of an earlier version: up to and with this migration. */
export async function openMigratedTo(databaseUrl: string, migration: string): Promise<Kysely<unknown>> {
  const database = openRaw(databaseUrl);
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateTo(migration);
  if (error !== undefined) throw error;
  return database;
}
