import { randomBytes } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import { type Micros, microsPerMs, nowMicros, toIsoInstant } from "./columns.ts";
import type { Database } from "./schema/tables.ts";
import { isPostgres } from "./store.ts";

/** The database's time in whole milliseconds: PostgreSQL's clock, which all processes share; on SQLite this process's. */
export function databaseNow(database: Database): RawBuilder<Micros> {
  if (!isPostgres(database)) return sql`${sql.lit(nowMicros())}`;
  return sql`(floor(extract(epoch from clock_timestamp()) * 1000)::bigint * 1000)`;
}

export async function readDatabaseClock(database: Database): Promise<Micros> {
  if (!isPostgres(database)) return nowMicros();
  const { rows } = await sql<{ now: Micros }>`select ${databaseNow(database)} as now`.execute(database);
  return rows[0]?.now ?? nowMicros();
}

/** Clocks that are synchronised with a time server never differ by this much. */
export const maxSkewMs = 60_000;

/** The clocks of this machine and of its database differ, so one of them is wrong. */
export class ClockSkewError extends Error {
  constructor({ own, database }: ClockSkew) {
    super(
      `This machine's clock says ${toIsoInstant(own)}, the database's (PRESAGE_DATABASE_URL) ${toIsoInstant(database)}. ` +
        "They may differ by at most a minute; correct the wrong one.",
    );
    this.name = "ClockSkewError";
  }
}

export interface ClockSkew {
  own: Micros;
  database: Micros;
}

/** Both clocks' times if they differ by more than `maxSkewMs`. SQLite has no clock of its own. */
export async function findClockSkew(database: Database): Promise<ClockSkew | undefined> {
  if (!isPostgres(database)) return undefined;
  const before = nowMicros();
  const theirs = await readDatabaseClock(database);
  const after = nowMicros();
  // However long the query took, the database read its clock between the two.
  const skew = Math.max(before - theirs, theirs - after);
  return skew > maxSkewMs * microsPerMs ? { own: after, database: theirs } : undefined;
}

/** A random secret that all processes on the database share; generated when it is first needed. */
export async function sharedSecret(database: Database, name: string): Promise<string> {
  await database
    .insertInto("settings")
    .values({ name, value: randomBytes(32).toString("base64") })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  const setting = await database
    .selectFrom("settings")
    .select("value")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return setting.value;
}

export async function readSetting(database: Database, name: string): Promise<string | undefined> {
  const row = await database
    .selectFrom("settings")
    .select("value")
    .where("name", "=", name)
    .executeTakeFirst();
  return row?.value;
}

export async function saveSetting(database: Database, name: string, value: string): Promise<void> {
  await database
    .insertInto("settings")
    .values({ name, value })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ value }))
    .execute();
}

/** Saves what `change` makes of a setting, or leaves it if that is undefined. Others that change it wait. */
export async function changeSetting(
  database: Database,
  name: string,
  change: (value: string | undefined) => string | undefined,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    // Locks it until the transaction ends, whether it exists or not.
    await transaction
      .insertInto("settings")
      .values({ name, value: "" })
      .onConflict((conflict) =>
        conflict.column("name").doUpdateSet((of) => ({ value: of.ref("settings.value") })),
      )
      .execute();
    const value = change((await readSetting(transaction, name)) || undefined);
    if (value !== undefined) await saveSetting(transaction, name, value);
  });
}

/** True for the first call on this database, false for every other one. */
export async function claimOnce(database: Database, name: string): Promise<boolean> {
  const claimed = await database
    .insertInto("settings")
    .values({ name, value: "claimed" })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returning("name")
    .executeTakeFirst();
  return claimed !== undefined;
}

const instancePrefix = "instance:";
/** Servers that crashed are not removed, so only the newest are kept: far more than run on one database at once. */
const maxInstances = 100;

/** A server that was started on this database, and has not stopped unless it crashed. */
export interface ServerInstance {
  id: string;
  /** Where browsers reach it. Others may share the address. */
  address: string;
}

/** Notes a server that starts. Its id is a UUID of version 7, so ids are in the order of starts. */
export async function noteInstance(database: Database, { id, address }: ServerInstance): Promise<void> {
  await database
    .insertInto("settings")
    .values({ name: instancePrefix + id, value: address })
    // Several workers are one server.
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  await database
    .deleteFrom("settings")
    .where("name", "like", `${instancePrefix}%`)
    .where("name", "not in", (settings) =>
      settings
        .selectFrom("settings")
        .select("name")
        .where("name", "like", `${instancePrefix}%`)
        .orderBy("name", "desc")
        .limit(maxInstances),
    )
    .execute();
}

/** Every server that was started and has not been forgotten, newest first. */
export async function readInstances(database: Database): Promise<ServerInstance[]> {
  const noted = await database
    .selectFrom("settings")
    .select(["name", "value"])
    .where("name", "like", `${instancePrefix}%`)
    .orderBy("name", "desc")
    .execute();
  return noted.map(({ name, value }) => ({ id: name.slice(instancePrefix.length), address: value }));
}

/** Forgets a server that stops. */
export async function forgetInstance(database: Database, id: string): Promise<void> {
  await database
    .deleteFrom("settings")
    .where("name", "=", instancePrefix + id)
    .execute();
}
