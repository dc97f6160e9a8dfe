import type { Database } from "../../storage/tables.ts";

/** The apps that an account has results of, in no order. */
export async function selectApps(database: Database, accountId: string): Promise<string[]> {
  const rows = await database
    .selectFrom("evaluation_series")
    .select("app")
    .distinct()
    .where("account_id", "=", accountId)
    .execute();
  return rows.map(({ app }) => app);
}
