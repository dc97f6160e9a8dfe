import { PostgresAdapter } from "kysely";
import type { Database } from "./tables.ts";

/** Whether a query can lock the rows that it finds. On SQLite none needs to: a transaction there is alone from its start. */
export function hasRowLocks(database: Database): boolean {
  return database.getExecutor().adapter instanceof PostgresAdapter;
}
