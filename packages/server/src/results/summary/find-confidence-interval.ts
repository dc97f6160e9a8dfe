import type { ConfidenceInterval } from "@presage/contract";
import type { UsableProfile } from "../../evaluators/profiles/find-profile.ts";
import { medianInterval, toHistogram } from "../../platform/statistics/median-interval.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { EvaluationServices } from "../evaluation-services.ts";
import { fromThousandths } from "../result-rows.ts";
import { selectScoreCounts } from "./rollup-store.ts";

/** The interval of the median of all scores of an evaluator with one revision of a profile, in every app and run. */
export async function findConfidenceInterval(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  evaluatorId: string,
  profile: UsableProfile,
): Promise<ConfidenceInterval> {
  const counts = await selectScoreCounts(
    store.briefReader(requester),
    requester.accountId,
    evaluatorId,
    profile,
  );
  const histogram = toHistogram(counts.map(({ score_mille, count }) => [score_mille, count] as const));
  const { lower, median, upper } = medianInterval(histogram);
  return {
    strategy: "full-history",
    alpha: 0.05,
    lower: fromThousandths(lower),
    median: fromThousandths(median),
    upper: fromThousandths(upper),
  };
}
