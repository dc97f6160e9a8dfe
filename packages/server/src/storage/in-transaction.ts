import type { Database } from "./schema/tables.ts";

/** Does some work in the transaction that is under way, or else in one of its own. */
export async function inTransaction<Done>(
  database: Database,
  work: (transaction: Database) => Promise<Done>,
): Promise<Done> {
  return database.isTransaction ? await work(database) : await database.transaction().execute(work);
}
