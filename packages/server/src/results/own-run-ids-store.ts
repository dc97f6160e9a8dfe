import type { Database } from "../platform/storage/schema/tables.ts";

/** Which of these are ids of an account's runs whose results Presage makes. */
export async function selectOwnRunIds(
  database: Database,
  accountId: string,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await database
    .selectFrom("runs")
    .select("id")
    .where("id", "in", ids)
    .where("account_id", "=", accountId)
    .where("target_kind", "!=", "external")
    .where("status", "!=", "deleted")
    .execute();
  return rows.map(({ id }) => id);
}
