import { Migrator, sql } from "kysely";
import { migrations, oldestVersion } from "./migrations/index.ts";
import { mayRunOn, oldestVersionSetting, saveOldestVersion } from "./oldest-version.ts";
import type { Database } from "./schema/tables.ts";
import { readSetting } from "./settings-store.ts";

const newestMigration = Object.keys(migrations).at(-1) ?? "";

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

/** What an upgrade of the schema has done. */
export interface Migrated {
  /** The names of the migrations that ran. */
  applied: string[];
  /** Migrations of a newer version, which says that this one may run beside it. */
  newer: string[];
}

/**
 * Brings the schema up to date. When several processes start at once, one migrates under the database's lock and the others wait. A
 * schema that is newer stays as it is: docs/upgrades.md.
 */
export async function migrate(database: Database): Promise<Migrated> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => migrations } });
  const { error, results } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const executed = await executedMigrations(database).catch(() => []);
    const newer = executed.filter((name) => !Object.hasOwn(migrations, name));
    if (newer.length === 0) throw error;
    if (!mayRunOn(executed, await readSetting(database, oldestVersionSetting)))
      throw new NewerSchemaError(newer);
    return { applied: [], newer };
  }
  await saveOldestVersion(database, { schema: newestMigration, oldest: oldestVersion });
  return { applied: (results ?? []).map((result) => result.migrationName), newer: [] };
}

async function executedMigrations(database: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    database,
  );
  return rows.map((row) => row.name);
}
