import type { Database, ErrorFindingCountsTable } from "../../storage/tables.ts";

/** So many rows are far from what a statement takes in parameters. */
const rowsAtOnce = 1_000;

/** Adds to how often errors were found. */
export async function addErrorFindings(
  transaction: Database,
  counts: readonly ErrorFindingCountsTable[],
): Promise<void> {
  for (let at = 0; at < counts.length; at += rowsAtOnce) {
    await transaction
      .insertInto("error_finding_counts")
      .values(counts.slice(at, at + rowsAtOnce))
      .onConflict((conflict) =>
        conflict.columns(["account_id", "revision_id", "day", "path_id"]).doUpdateSet((row) => ({
          count: row("error_finding_counts.count", "+", row.ref("excluded.count")),
        })),
      )
      .execute();
  }
}

/** Days since 1970-01-01 UTC, the last one not counted. */
export interface Days {
  fromDay: number | undefined;
  untilDay: number | undefined;
}

/** How often an account's evaluations against a revision found each path, and on which day last. */
export async function selectErrorFindings(
  reader: Database,
  accountId: string,
  revisionId: string,
  { fromDay, untilDay }: Days,
): Promise<{ path: string; count: number; last_day: number }[]> {
  let query = reader
    .selectFrom("error_finding_counts")
    .select("path")
    .select(({ fn }) => [fn.sum<number>("count").as("count"), fn.max("day").as("last_day")])
    .where("account_id", "=", accountId)
    .where("revision_id", "=", revisionId)
    .groupBy("path");
  if (fromDay !== undefined) query = query.where("day", ">=", fromDay);
  if (untilDay !== undefined) query = query.where("day", "<", untilDay);
  return await query.execute();
}
