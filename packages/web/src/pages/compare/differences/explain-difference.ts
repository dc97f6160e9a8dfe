import type { ComparisonCandidate } from "@presage/sdk";
import { describeP, formatPoints } from "../../../format/format-difference.ts";
import { formatCount } from "../../../format/format-number.ts";

type Figures = Pick<ComparisonCandidate, "difference" | "interval" | "count" | "trajectories" | "p_value">;

/** What a difference is, over what, and how its interval was made. */
export function explainDifference(figures: Figures): string {
  const { difference, interval, count, trajectories, p_value } = figures;
  const base = `Mean difference of the scores in percentage points, paired by sample: ${formatPoints(difference)}, over ${formatCount(count)} samples in ${formatCount(trajectories)} trajectories.`;
  const range =
    interval === null
      ? "There is no interval: fewer than 6 trajectories, or all differ alike."
      : `95 % interval ${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}: every difference that flipped signs of the trajectories’ sums do not reject.`;
  const test = p_value === null ? "" : ` ${describeP(p_value)} before Holm’s correction.`;
  return `${base} ${range}${test}`;
}
