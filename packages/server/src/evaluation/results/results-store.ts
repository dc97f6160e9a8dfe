import { insertRows } from "../../storage/insert-rows.ts";
import { nowMicros } from "../../storage/micros.ts";
import type { Database, Micros } from "../../storage/tables.ts";
import type { Counted } from "./count-results.ts";
import type { KeptResult } from "./evaluation-record.ts";
import { toPayloadRow, toResultRow, toTagRows } from "./to-rows.ts";

/**
 * Takes the next numbers for results, and the time at which they are kept. Whoever has done so holds the clock until the
 * transaction ends: results of all processes become visible in the order of their numbers, and times follow it.
 */
export async function advanceClock(
  transaction: Database,
  results: number,
): Promise<{ firstId: number; createdAt: Micros }> {
  const now = nowMicros();
  const clock = await transaction
    .updateTable("evaluation_clock")
    .set((row) => ({
      last_id: row("last_id", "+", results),
      last_created_at: row
        .case()
        .when("last_created_at", ">", now)
        .then(row.ref("last_created_at"))
        .else(now)
        .end(),
    }))
    .returning(["last_id", "last_created_at"])
    .executeTakeFirstOrThrow();
  return { firstId: clock.last_id - results + 1, createdAt: clock.last_created_at };
}

export async function insertResults(transaction: Database, results: readonly KeptResult[]): Promise<void> {
  await insertRows(transaction, "evaluation_results", results.map(toResultRow));
  await insertRows(transaction, "evaluation_payloads", results.map(toPayloadRow));
  await insertRows(transaction, "evaluation_tags", results.flatMap(toTagRows));
}

/** Adds to the rollup. Counts below zero take away. */
export async function addCounts(transaction: Database, { series, counts }: Counted): Promise<void> {
  if (counts.length === 0) return;
  await transaction
    .insertInto("evaluation_series")
    .values(series)
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
  await transaction
    .insertInto("evaluation_counts")
    .values(counts)
    .onConflict((conflict) =>
      conflict.columns(["series_id", "day", "verdict", "score_mille"]).doUpdateSet((row) => ({
        count: row("evaluation_counts.count", "+", row.ref("excluded.count")),
        score_sum: row("evaluation_counts.score_sum", "+", row.ref("excluded.score_sum")),
        score_sum_of_squares: row(
          "evaluation_counts.score_sum_of_squares",
          "+",
          row.ref("excluded.score_sum_of_squares"),
        ),
      })),
    )
    .execute();
}
