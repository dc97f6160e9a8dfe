import { Database as SqliteFile } from "bun:sqlite";
import { existsSync } from "node:fs";
import { Kysely, sql } from "kysely";
import { parseSeen, type SeenClock, seenClockSetting } from "./clock-jump.ts";
import { readDatabaseClock } from "./database-clock.ts";
import { hasPostgresSchema } from "./has-schema.ts";
import { nowMicros } from "./micros.ts";
import { migrations } from "./migrations/index.ts";
import { mayRunOn, oldestVersionSetting } from "./oldest-version.ts";
import { isSqlite, sqlitePath } from "./open-database.ts";
import { refuseSharedSessions } from "./refuse-shared-sessions.ts";
import type { Tables } from "./schema/tables.ts";
import { readSetting } from "./settings-store.ts";

/** A database as a look at it finds it. */
export interface InspectedDatabase {
  /** The engine and its version. */
  engine: string;
  /** The last migration; undefined if it has no schema yet. */
  schema: string | undefined;
  /** How many migrations this version of Presage would apply. */
  pending: number;
  /** Migrations that this version does not know. */
  unknown: string[];
  /** Whether a schema with such migrations lets this version run on it. */
  mayRun: boolean;
  /** How far its clock is ahead of this machine's; undefined if it has none of its own. */
  aheadMs: number | undefined;
  /** What servers noted of its clock. */
  seenClock: SeenClock | undefined;
}

const limits = { lockTimeoutMs: 3_000, statementTimeoutMs: 4_000, responseTimeoutMs: 5_000 };
/** Changes no row, but only a connection that may write can run it. */
const writeNothing = "update settings set value = value where 1 = 0";
const selectSetting = "select value from settings where name = ?";

/** Connects, reads the schema's state and makes sure that it can be written. Neither creates nor changes anything. */
export async function inspectDatabase(url: string): Promise<InspectedDatabase> {
  return isSqlite(url) ? inspectSqlite(sqlitePath(url)) : await inspectPostgres(url);
}

function inspectSqlite(path: string): InspectedDatabase {
  const file = existsSync(path) ? new SqliteFile(path, { readwrite: true }) : new SqliteFile(":memory:");
  try {
    file.run("PRAGMA busy_timeout = 5000");
    const hasSchema =
      file.query("select 1 from sqlite_master where name = 'kysely_migration'").get() !== null;
    const applied = hasSchema
      ? file.query<{ name: string }, []>("select name from kysely_migration").all()
      : undefined;
    if (applied !== undefined) {
      file.run("begin immediate");
      file.run(writeNothing);
      file.run("rollback");
    }
    const read = (name: string) =>
      hasSchema ? file.query<{ value: string }, [string]>(selectSetting).get(name)?.value : undefined;
    const version = file.query<{ version: string }, []>("select sqlite_version() as version").get()?.version;
    const state = stateOf(applied, read(oldestVersionSetting), read(seenClockSetting));
    return { engine: `SQLite ${version}`, ...state, aheadMs: undefined };
  } finally {
    file.close();
  }
}

async function inspectPostgres(url: string): Promise<InspectedDatabase> {
  const { postgresDialect } = await import("./postgres-dialect.ts");
  const database = new Kysely<Tables>({
    dialect: postgresDialect(url, { limits, maxConnections: 2, onConnectionLost() {} }),
  });
  try {
    await refuseSharedSessions(database);
    const { rows } = await sql<{ server_version: string }>`show server_version`.execute(database);
    const applied = (await hasPostgresSchema(database))
      ? (await sql<{ name: string }>`select name from kysely_migration`.execute(database)).rows
      : undefined;
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

function stateOf(applied: { name: string }[] | undefined, said?: string, seen?: string) {
  const names = (applied ?? []).map(({ name }) => name).sort();
  const known = Object.keys(migrations);
  return {
    schema: names.at(-1),
    pending: known.filter((name) => !names.includes(name)).length,
    unknown: names.filter((name) => !known.includes(name)),
    mayRun: mayRunOn(names, said),
    seenClock: parseSeen(seen),
  };
}
