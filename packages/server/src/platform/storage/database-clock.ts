import { type RawBuilder, sql } from "kysely";
import { isPostgres } from "./is-postgres.ts";
import { type Micros, nowMicros } from "./micros.ts";
import type { Database } from "./schema/tables.ts";

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
