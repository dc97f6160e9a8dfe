import { randomBytes } from "node:crypto";
import type { Database } from "./schema/tables.ts";

/** A random secret that all processes on the database share; generated when it is first needed. */
export async function sharedSecret(database: Database, name: string): Promise<string> {
  await insertSetting(database, name, randomBytes(32).toString("base64"));
  const setting = await database
    .selectFrom("settings")
    .select("value")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return setting.value;
}

/** True for the first call on this database, false for every later one. */
export async function claimOnce(database: Database, name: string): Promise<boolean> {
  return await insertSetting(database, name, "claimed");
}

/** Returns whether the setting is new. */
async function insertSetting(database: Database, name: string, value: string): Promise<boolean> {
  const inserted = await database
    .insertInto("settings")
    .values({ name, value })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returning("name")
    .executeTakeFirst();
  return inserted !== undefined;
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

/** Saves the result of `change` as the setting, or leaves the setting if the result is undefined. Concurrent changes wait. */
export async function changeSetting(
  database: Database,
  name: string,
  change: (value: string | undefined) => string | undefined,
): Promise<void> {
  await database.transaction().execute(async (transaction) => {
    // Locks the setting until the transaction ends, whether it exists or not.
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

const instancePrefix = "instance:";
/** Servers that crashed are not removed, so only the newest are kept: far more than ever run on one database at the same time. */
const maxInstances = 100;

/** A server that was started on this database, and has not stopped unless it crashed. */
interface ServerInstance {
  id: string;
  /** The address that browsers use. Other servers may share it. */
  address: string;
}

/** Records a server that starts. Its id is a UUID of version 7, so ids are in the order of starts. */
export async function noteInstance(database: Database, { id, address }: ServerInstance): Promise<void> {
  // Several workers are one server.
  await insertSetting(database, instancePrefix + id, address);
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
