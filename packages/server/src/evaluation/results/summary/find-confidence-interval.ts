import type { ConfidenceInterval } from "@presage/contract";
import type { Asker, Reader } from "../../../storage/reader.ts";
import type { UsableProfile } from "../../evaluate/resolve-evaluators.ts";
import { toHistogram } from "../../statistics/histogram.ts";
import { medianInterval } from "../../statistics/median-interval.ts";
import { fromThousandths } from "../record/result-rows.ts";
import { selectScoreCounts } from "./rollup-store.ts";

/** The interval of all earlier scores of an evaluator with a profile. */
export type FindConfidenceInterval = (
  asker: Asker,
  evaluatorId: string,
  profile: UsableProfile,
) => Promise<ConfidenceInterval>;

/** Intervals of the median of all scores of an evaluator with one revision of a profile, in every app and run. */
export function createFindConfidenceInterval(reader: Reader): FindConfidenceInterval {
  return async (asker, evaluatorId, profile) => {
    const counts = await selectScoreCounts(reader(asker), asker.accountId, evaluatorId, profile);
    const histogram = toHistogram(counts.map(({ score_mille, count }) => [score_mille, count] as const));
    const { lower, median, upper } = medianInterval(histogram);
    return {
      strategy: "full-history",
      alpha: 0.05,
      lower: fromThousandths(lower),
      median: fromThousandths(median),
      upper: fromThousandths(upper),
    };
  };
}
