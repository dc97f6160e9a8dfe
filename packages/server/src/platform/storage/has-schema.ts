import { Database as SqliteFile } from "bun:sqlite";
import { existsSync } from "node:fs";
import { sql } from "kysely";
import type { Database } from "./schema/tables.ts";

/** Whether Presage has created its schema in the SQLite file at `path`. Neither creates nor changes a file. */
export function hasSqliteSchema(path: string): boolean {
  if (!existsSync(path)) return false;
  const file = new SqliteFile(path, { readwrite: true });
  try {
    file.run("PRAGMA busy_timeout = 5000");
    return file.query("select 1 from sqlite_master where name = 'kysely_migration'").get() !== null;
  } finally {
    file.close();
  }
}

/** The same for a PostgreSQL database. */
export async function hasPostgresSchema(database: Database): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`
    select to_regclass('kysely_migration') is not null as exists`.execute(database);
  return rows[0]?.exists === true;
}
