import { sql } from "kysely";
import { isPostgres } from "../../../storage/is-postgres.ts";
import type { Database } from "../../../storage/schema/tables.ts";

/** Some of the apps that an account has results of, in the order of their characters, those that follow `after` if it is given. */
export async function selectApps(
  reader: Database,
  accountId: string,
  { limit, after }: { limit: number; after: string | undefined },
): Promise<string[]> {
  // PostgreSQL would order and compare as the database's language does.
  const app = isPostgres(reader) ? sql<string>`app collate "C"` : sql<string>`app`;
  let query = reader
    .selectFrom("evaluation_series")
    .select(app.as("app"))
    .distinct()
    .where("account_id", "=", accountId)
    // Every result counts in such a series too, and of those by run there may be many.
    .where("spans_runs", "=", 1);
  if (after !== undefined) query = query.where(app, ">", after);
  const rows = await query.orderBy(app).limit(limit).execute();
  return rows.map((row) => row.app);
}
