import { isPostgres } from "../../../storage/is-postgres.ts";
import type {
  EvaluationCountsTable,
  EvaluationSeriesTable,
} from "../../../storage/schema/evaluation-rollup.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { Counted } from "./count-results.ts";

/** Adds to the rollup, including series that are missing. Negative counts subtract. */
export async function addCounted(transaction: Database, { series, counts }: Counted): Promise<void> {
  await addSeries(transaction, series);
  await addCounts(transaction, counts);
}

/** Always in one order, to avoid deadlocks between writers that insert the same series. */
export async function addSeries(database: Database, series: readonly EvaluationSeriesTable[]): Promise<void> {
  if (series.length === 0) return;
  await database
    .insertInto("evaluation_series")
    .values(series.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

/** Adds to the counts of existing series. */
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

/** Each run has series of its own, so their number is unbounded. */
const maxKnown = 10_000;
/** A database restored from a backup may lack series that were known to exist. */
const knownForMs = 60_000;

/**
 * Returns a function that ensures that series exist before results are counted in them. On PostgreSQL that happens outside the writers'
 * transactions: of two that insert the same series the second would wait for the first, and a single statement is short.
 */
export function createEnsureSeries(
  database: Database,
): (series: readonly EvaluationSeriesTable[]) => Promise<void> {
  const known = new Set<string>();
  let knownSinceMs = 0;
  return async (series) => {
    if (known.size > maxKnown || performance.now() - knownSinceMs > knownForMs) {
      known.clear();
      knownSinceMs = performance.now();
    }
    const unknown = series.filter(({ id }) => !known.has(id));
    await addSeries(database, unknown);
    for (const { id } of unknown) known.add(id);
  };
}
