import { sql } from "kysely";
import type { Database } from "./schema/tables.ts";

/** A commit that makes the log longer than 1,000 pages copies it into the file before the next write may begin. */
const mostPages = 300;

/**
 * Copies SQLite's log into the file if it is long, between transactions: others write meanwhile. A thread that changes many pages calls
 * this after each transaction, so that no commit has to.
 */
export async function copyLog(database: Database): Promise<void> {
  const { rows } = await sql<{ log: number; checkpointed: number }>`pragma wal_checkpoint(noop)`.execute(
    database,
  );
  const [pages] = rows;
  if (pages === undefined || pages.log - pages.checkpointed < mostPages) return;
  await sql`pragma wal_checkpoint(passive)`.execute(database);
}
