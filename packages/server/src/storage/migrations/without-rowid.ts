import { type Kysely, sql } from "kysely";
import { isPostgres } from "../is-postgres.ts";

/** Rows that are hardly more than their key: SQLite keeps them in the key's own tree, which is one write and one read less. */
export function keptInKey(db: Kysely<unknown>): ReturnType<typeof sql> {
  return isPostgres(db) ? sql`` : sql`without rowid`;
}
