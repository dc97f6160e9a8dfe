import type { Database } from "../../storage/tables.ts";

/** The apps that an account has results of, in no order. */
export async function selectApps(database: Database, accountId: string): Promise<string[]> {
  const rows = await database
    .selectFrom("evaluation_series")
    .select("app")
    .distinct()
    .where("account_id", "=", accountId)
    // Every result counts in such a series too, and of those by run there may be many.
    .where("spans_runs", "=", 1)
    .execute();
  return rows.map(({ app }) => app);
}
