import { Database as SqliteFile } from "bun:sqlite";
import { existsSync } from "node:fs";
import { type MigrationResultSet, Migrator, sql } from "kysely";
import { z } from "zod";
import { baselineName, migrations, oldestVersion } from "./migrations/index.ts";
import type { Database } from "./schema/tables.ts";
import { changeSetting, readSetting } from "./settings-store.ts";
import { isPostgres, type Migrated } from "./store.ts";

/** Whether Presage has created its schema in the SQLite file at `path`. Neither creates nor changes a file. */
export function hasSqliteSchema(path: string): boolean {
  if (!existsSync(path)) return false;
  const file = new SqliteFile(path, { readwrite: true });
  try {
    file.run("PRAGMA busy_timeout = 5000");
    return readSchemaOf(file).applied !== undefined;
  } finally {
    file.close();
  }
}

/** Like `hasSqliteSchema`, for a PostgreSQL database. */
export async function hasPostgresSchema(database: Database): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(database);
  return rows[0]?.exists === true;
}

/** The migrations of an SQLite file, undefined before Presage has created its schema, and its settings. */
export function readSchemaOf(file: SqliteFile) {
  const hasSchema = file.query("select 1 from sqlite_master where name = 'kysely_migration'").get() !== null;
  const rows = <Row>(query: string, ...names: string[]) =>
    hasSchema ? file.query<Row, string[]>(query).all(...names) : undefined;
  return {
    applied: rows<{ name: string }>("select name from kysely_migration order by name")?.map(
      ({ name }) => name,
    ),
    setting: (name: string) =>
      rows<{ value: string }>("select value from settings where name = ?", name)?.[0]?.value,
  };
}

/** The setting that stores the oldest version, as JSON. */
export const oldestVersionSetting = "oldest_version";

/** The oldest version that may run on a schema; both are named by their last migrations. Each new schema states its own. */
const OldestVersion = z.object({ schema: z.string(), oldest: z.string() });
type OldestVersion = z.output<typeof OldestVersion>;

/** Keeps a newer schema's value: a process of an earlier version may have looked at the schema before it was migrated, and be late. */
export async function saveOldestVersion(database: Database, own: OldestVersion): Promise<void> {
  const value = JSON.stringify(own);
  if ((await readSetting(database, oldestVersionSetting)) === value) return;
  await changeSetting(database, oldestVersionSetting, (said) => {
    const before = parse(said);
    return before !== undefined && before.schema > own.schema ? undefined : value;
  });
}

/** Whether this version may run on a schema with these migrations, some of which it does not know; `said` is the setting. */
export function mayRunOn(executed: readonly string[], said: string | undefined): boolean {
  const known = Object.keys(migrations);
  if (!known.every((name) => executed.includes(name))) return false;
  const version = parse(said);
  // Names of migrations begin with their numbers.
  return (
    version !== undefined &&
    version.schema === executed.toSorted().at(-1) &&
    version.oldest <= (known.at(-1) ?? "")
  );
}

/** Undefined if the setting was never made, or is damaged. */
function parse(said: string | undefined): OldestVersion | undefined {
  try {
    return OldestVersion.safeParse(JSON.parse(said ?? "")).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const newestMigration = Object.keys(migrations).at(-1) ?? "";

/** Whether a schema with these migrations was left by a version before 0.1.0, or by one in development: it cannot be upgraded. */
export function isTooOld(executed: readonly string[]): boolean {
  return executed.length > 0 && !executed.includes(baselineName);
}

/** The database has a schema that this version neither runs on nor upgrades. */
export class SchemaError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SchemaError";
  }
}

export function newerSchemaError(unknownMigrations: readonly string[]): SchemaError {
  return new SchemaError(
    `The database is newer than this version of Presage, which does not know its migrations ${unknownMigrations.join(", ")}. ` +
      "Start the version that applied them, or a later one.",
  );
}

/**
 * Brings the schema up to date. When several processes start at the same time, one migrates under the database's lock and the others
 * wait. A newer schema stays as it is: docs/upgrades.md.
 */
export async function migrate(database: Database): Promise<Migrated> {
  const migrator = new Migrator({ db: database, provider: { getMigrations: async () => migrations } });
  const { error, results }: MigrationResultSet = (await isUpToDate(database))
    ? { results: [] }
    : await migrator.migrateToLatest();
  if (error !== undefined) {
    const executed = await executedMigrations(database).catch(() => []);
    if (isTooOld(executed))
      throw new SchemaError(
        `The schema of the database is from before Presage 0.1.0 (${executed.at(-1)}). Start Presage 0.1.0 once, then this version.`,
      );
    const newer = executed.filter((name) => !Object.hasOwn(migrations, name));
    if (newer.length === 0) throw error;
    if (!mayRunOn(executed, await readSetting(database, oldestVersionSetting))) throw newerSchemaError(newer);
    return { applied: [], newer };
  }
  await saveOldestVersion(database, { schema: newestMigration, oldest: oldestVersion });
  return { applied: (results ?? []).map((result) => result.migrationName), newer: [] };
}

/** Kysely's own check reads every column of every table, a third of a server's start. A migration's name is there once it is committed. */
async function isUpToDate(database: Database): Promise<boolean> {
  // PostgreSQL logs an error for each table that does not exist.
  if (isPostgres(database) && !(await hasPostgresSchema(database))) return false;
  const executed = await executedMigrations(database).catch(() => []);
  return executed.join() === Object.keys(migrations).sort().join();
}

export async function executedMigrations(database: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(
    database,
  );
  return rows.map((row) => row.name);
}
