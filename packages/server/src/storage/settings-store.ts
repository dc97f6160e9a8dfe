import { randomBytes } from "node:crypto";
import type { Database } from "./schema/tables.ts";

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
