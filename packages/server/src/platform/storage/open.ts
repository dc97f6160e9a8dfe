import { Database as SqliteFile } from "bun:sqlite";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Kysely, sql } from "kysely";
import { parseSeen, readDatabaseClock, type SeenClock, seenClockSetting } from "./clock.ts";
import { nowMicros } from "./columns.ts";
import {
  executedMigrations,
  hasPostgresSchema,
  hasSqliteSchema,
  isTooOld,
  mayRunOn,
  migrate,
  oldestVersionSetting,
  readSchemaOf,
  SchemaError,
} from "./migrate.ts";
import { migrations } from "./migrations/index.ts";
import type { Database, Tables } from "./schema/tables.ts";
import { readSetting } from "./settings-store.ts";
import { inMemoryPath, isSqlite, openSqliteDatabase, sqlitePath } from "./sqlite/sqlite.ts";
import { sqliteDialect, sqliteThreadDialect, startSqliteWorker } from "./sqlite/sqlite-driver.ts";
import { openSqlite } from "./sqlite/sqlite-file.ts";
import { createReader, type Migrated, type OpenedDatabase, type OpenOptions, readerQueue } from "./store.ts";
import { NoDatabaseError, OpenDatabaseError } from "./store-error.ts";

/** Statement timeouts on threads; SQLite has none of its own. */
const sqliteReaderTimeoutMs = 60_000;
const sqliteBriefReaderTimeoutMs = 10_000;

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
    if (isSqlite(url)) return await connectSqlite(sqlitePath(url), onSuccess, options);
    const { connectPostgres } = await import("./postgres/connect-postgres.ts");
    return await connectPostgres(url, { onConnectionLost, onSuccess }, options);
  } catch (error) {
    if (error instanceof SchemaError || error instanceof NoDatabaseError) throw error;
    throw new OpenDatabaseError(error);
  }
}

/** The database at `url`, whose schema is up to date, on one connection: for a thread. */
export async function openThreadDatabase(url: string): Promise<Database> {
  if (isSqlite(url)) return openSqliteDatabase(sqlitePath(url));
  const { connectPostgresOnce } = await import("./postgres/connect-postgres.ts");
  return connectPostgresOnce(url);
}

async function connectSqlite(
  path: string,
  onSuccess: () => void,
  { mustExist, readsInPlace }: OpenOptions,
): Promise<OpenedDatabase> {
  if (mustExist && !hasSqliteSchema(path)) throw new NoDatabaseError(resolve(path));
  if (path === inMemoryPath) return await openInMemory(onSuccess);
  const database = openSqliteDatabase(path, onSuccess);
  const migrated = await migrate(database);
  if (readsInPlace) return { ...inPlace(database), sqlitePath: path, migrated };
  // Threads start with their first statement.
  const readerWithin = (timeoutMs: number) =>
    createReader(
      sqliteThreadDialect(() => startSqliteWorker(path), timeoutMs),
      { slots: 1, queue: readerQueue },
    );
  const long = readerWithin(sqliteReaderTimeoutMs);
  const brief = readerWithin(sqliteBriefReaderTimeoutMs);
  return {
    database,
    // The only writing connection; its turns are short.
    writer: () => database,
    reader: long.reader,
    briefReader: brief.reader,
    sqlitePath: path,
    migrated,
    async destroy() {
      // One after the other: the last SQLite connection to close removes the log, and if several closed together, none would be the last.
      await long.destroy();
      await brief.destroy();
      await database.destroy();
    },
  };
}

/** The first in-memory database of this process, without data. Making its tables takes half of a server's start. */
let firstInMemory: { bytes: Uint8Array; migrated: Migrated } | undefined;

/** The first in-memory database makes its tables, later ones begin as its copies. Each belongs to its one connection. */
async function openInMemory(onSuccess: () => void): Promise<OpenedDatabase> {
  const file = openSqlite(firstInMemory?.bytes ?? inMemoryPath);
  const database = new Kysely<Tables>({ dialect: sqliteDialect(file, onSuccess) });
  const migrated = firstInMemory?.migrated ?? (await migrate(database));
  firstInMemory ??= { bytes: file.serialize(), migrated };
  return { ...inPlace(database), sqlitePath: undefined, migrated };
}

/** Reads and writes through one connection of this thread. */
function inPlace(database: Database) {
  const here = () => database;
  return { database, writer: here, reader: here, briefReader: here, destroy: () => database.destroy() };
}

/** The state of a database as an inspection finds it. */
export interface InspectedDatabase {
  /** The engine and its version. */
  engine: string;
  /** The last migration; undefined if it has no schema yet. */
  schema: string | undefined;
  /** How many migrations this version of Presage would apply. */
  pending: number;
  /** Whether its schema is from before 0.1.0, so that this version does not upgrade it. */
  isTooOld: boolean;
  /** Migrations that this version does not know. */
  unknown: string[];
  /** Whether a schema with such migrations lets this version run on it. */
  mayRun: boolean;
  /** How far its clock is ahead of this machine's; undefined if it has none of its own. */
  aheadMs: number | undefined;
  /** What servers have noted about its clock. */
  seenClock: SeenClock | undefined;
}

const limits = { lockTimeoutMs: 3_000, statementTimeoutMs: 4_000, responseTimeoutMs: 5_000 };
/** Changes no row, but only a connection that may write can run it. */
const writeNothing = "update settings set value = value where 1 = 0";

/** Connects, reads the schema's state and makes sure that it can be written. Neither creates nor changes anything. */
export async function inspectDatabase(url: string): Promise<InspectedDatabase> {
  return isSqlite(url) ? inspectSqlite(sqlitePath(url)) : await inspectPostgres(url);
}

function inspectSqlite(path: string): InspectedDatabase {
  const file = existsSync(path) ? new SqliteFile(path, { readwrite: true }) : new SqliteFile(":memory:");
  try {
    file.run("PRAGMA busy_timeout = 5000");
    const { applied, setting } = readSchemaOf(file);
    if (applied !== undefined) {
      file.run("begin immediate");
      file.run(writeNothing);
      file.run("rollback");
    }
    const version = file.query<{ version: string }, []>("select sqlite_version() as version").get()?.version;
    const state = stateOf(applied, setting(oldestVersionSetting), setting(seenClockSetting));
    return { engine: `SQLite ${version}`, ...state, aheadMs: undefined };
  } finally {
    file.close();
  }
}

async function inspectPostgres(url: string): Promise<InspectedDatabase> {
  const [{ postgresDialect }, { refuseSharedSessions }] = await Promise.all([
    import("./postgres/postgres-driver.ts"),
    import("./postgres/connect-postgres.ts"),
  ]);
  const database = new Kysely<Tables>({
    dialect: postgresDialect(url, { limits, maxConnections: 2, onConnectionLost() {} }),
  });
  try {
    await refuseSharedSessions(database);
    const { rows } = await sql<{ server_version: string }>`show server_version`.execute(database);
    const applied = (await hasPostgresSchema(database)) ? await executedMigrations(database) : undefined;
    if (applied !== undefined) await sql.raw(writeNothing).execute(database);
    const read = async (name: string) => applied && (await readSetting(database, name));
    const state = stateOf(applied, await read(oldestVersionSetting), await read(seenClockSetting));
    const before = nowMicros();
    const theirs = await readDatabaseClock(database);
    const aheadMs = (theirs - (before + nowMicros()) / 2) / 1_000;
    return { engine: `PostgreSQL ${rows[0]?.server_version}`, ...state, aheadMs };
  } finally {
    await database.destroy();
  }
}

function stateOf(names: readonly string[] = [], said?: string, seen?: string) {
  const known = Object.keys(migrations);
  return {
    schema: names.at(-1),
    pending: known.filter((name) => !names.includes(name)).length,
    isTooOld: isTooOld(names),
    unknown: names.filter((name) => !known.includes(name)),
    mayRun: mayRunOn(names, said),
    seenClock: parseSeen(seen),
  };
}
