import type { ComparisonCandidate } from "@presage/sdk";
import { describeP, formatPoints } from "../../../format/format-difference.ts";
import { formatCount } from "../../../format/format-number.ts";

type Figures = Pick<
  ComparisonCandidate,
  "difference" | "interval" | "count" | "trajectories" | "p_value" | "p_permutation"
>;

/** What a difference is, over what, and how its interval was made. */
export function explainDifference(figures: Figures): string {
  const { difference, interval, count, trajectories, p_value, p_permutation } = figures;
  const base = `Mean difference of the scores in percentage points, paired by sample: ${formatPoints(difference)}, over ${formatCount(count)} samples in ${formatCount(trajectories)} trajectories.`;
  const range =
    interval === null
      ? "There is no interval: trajectories are too few, or too unequal in length."
      : `95 % interval ${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}: what the t test of the trajectories’ sums of differences does not reject.`;
  const tests = [
    p_value === null ? undefined : `${describeP(p_value)} before Holm’s correction`,
    p_permutation === null ? undefined : `${describeP(p_permutation)} if signs are flipped at random`,
  ].filter(Boolean);
  return [base, range, tests.length > 0 && `${tests.join(", ")}.`].filter(Boolean).join(" ");
}
