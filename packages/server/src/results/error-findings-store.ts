import { isPostgres } from "../platform/storage/is-postgres.ts";
import type { ErrorFindingCountsTable } from "../platform/storage/schema/evaluation-rollup.ts";
import type { Database } from "../platform/storage/schema/tables.ts";

/** Far below the number of parameters that a statement may have. */
const rowsAtOnce = 1_000;

/** Adds to the counts of errors. */
export async function addErrorFindings(
  transaction: Database,
  counts: readonly ErrorFindingCountsTable[],
): Promise<void> {
  for (let at = 0; at < counts.length; at += rowsAtOnce) {
    const some = counts.slice(at, at + rowsAtOnce);
    if (isPostgres(transaction)) {
      await transaction.insertInto("error_finding_count_deltas").values(some).execute();
      continue;
    }
    await transaction
      .insertInto("error_finding_counts")
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(["account_id", "revision_id", "day", "path_id"]).doUpdateSet((row) => ({
          count: row("error_finding_counts.count", "+", row.ref("excluded.count")),
        })),
      )
      .execute();
  }
}

/** Days since 1970-01-01 UTC; `untilDay` is exclusive. */
export interface Days {
  fromDay: number | undefined;
  untilDay: number | undefined;
}

/** How often an account's evaluations against a revision found each path, and the last day on which they did. */
export async function selectErrorFindings(
  reader: Database,
  accountId: string,
  revisionId: string,
  { fromDay, untilDay }: Days,
): Promise<{ path: string; count: number; last_day: number }[]> {
  const countsOf = (table: "error_finding_counts" | "error_finding_count_deltas") => {
    let query = reader
      .selectFrom(table)
      .select(["path", "day", "count"])
      .where("account_id", "=", accountId)
      .where("revision_id", "=", revisionId);
    if (fromDay !== undefined) query = query.where("day", ">=", fromDay);
    if (untilDay !== undefined) query = query.where("day", "<", untilDay);
    return query;
  };
  const byDay = reader
    .selectFrom(
      countsOf("error_finding_counts").unionAll(countsOf("error_finding_count_deltas")).as("counts"),
    )
    .select(["path", "day"])
    .select(({ fn }) => fn.sum<number>("count").as("count"))
    .groupBy(["path", "day"])
    // A result moved to another day leaves a zero in its old one.
    .having(({ fn }) => fn.sum<number>("count"), ">", 0);
  return await reader
    .selectFrom(byDay.as("by_day"))
    .select("path")
    .select(({ fn }) => [fn.sum<number>("count").as("count"), fn.max("day").as("last_day")])
    .groupBy("path")
    .execute();
}
