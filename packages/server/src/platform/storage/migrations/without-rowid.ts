import { type Kysely, sql } from "kysely";
import { isPostgres } from "../store.ts";

/** For rows that are little more than their key: SQLite stores them in the key's tree, which saves a write and a read. */
export function withoutRowid(db: Kysely<unknown>): ReturnType<typeof sql> {
  return isPostgres(db) ? sql`` : sql`without rowid`;
}
