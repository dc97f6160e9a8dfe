import type { EvaluationSeriesTable } from "../../../storage/schema/evaluation-rollup.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import { addSeries } from "../keep/rollup-writes-store.ts";

/** Runs have series of their own, so there is no end to them. */
const maxKnown = 10_000;
/** A database that came back from a copy may lack what was known to be there. */
const knownForMs = 60_000;

/**
 * Makes sure that series are there before results are counted in them. On PostgreSQL outside of the writers' transactions: of two that
 * insert the same series the second would wait for the first, and a statement alone is over before anything can hold it up.
 */
export function createKnownSeries(
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
