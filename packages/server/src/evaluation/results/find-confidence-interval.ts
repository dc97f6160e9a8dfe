import type { Database } from "../../storage/tables.ts";
import { toHistogram } from "./histogram.ts";
import type { FindConfidenceInterval } from "./history.ts";
import { medianInterval } from "./median-interval.ts";
import { selectScoreCounts } from "./rollup-store.ts";

/** Intervals of the median of all scores of an evaluator with one revision of a profile, in every app and run. */
export function createFindConfidenceInterval(reader: Database): FindConfidenceInterval {
  return async (accountId, evaluatorId, profile) => {
    const counts = await selectScoreCounts(reader, accountId, evaluatorId, profile);
    const histogram = toHistogram(
      counts.map(({ score_mille, count }) => [score_mille / 1000, count] as const),
    );
    return { strategy: "full-history", alpha: 0.05, ...medianInterval(histogram) };
  };
}
