import { isPostgres } from "../../../storage/is-postgres.ts";
import type {
  EvaluationCountsTable,
  EvaluationSeriesTable,
} from "../../../storage/schema/evaluation-rollup.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { Counted } from "./count-results.ts";

/** Adds to the rollup, whose series may be there or not. Counts below zero take away. */
export async function addCounted(transaction: Database, { series, counts }: Counted): Promise<void> {
  await addSeries(transaction, series);
  await addCounts(transaction, counts);
}

/** In one order everywhere: of two writers that insert the same series, none must wait for the other in a circle. */
export async function addSeries(database: Database, series: readonly EvaluationSeriesTable[]): Promise<void> {
  if (series.length === 0) return;
  await database
    .insertInto("evaluation_series")
    .values(series.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

/** Adds to the counts of series that are there. */
export async function addCounts(
  transaction: Database,
  counts: readonly EvaluationCountsTable[],
): Promise<void> {
  if (counts.length === 0) return;
  if (isPostgres(transaction)) {
    await transaction.insertInto("evaluation_count_deltas").values(counts).execute();
    return;
  }
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
