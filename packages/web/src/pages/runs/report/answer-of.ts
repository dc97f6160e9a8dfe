import type { ComparisonCandidate, RunFigures } from "@presage/sdk";
import { describeP, formatPoints } from "../../../format/format-difference.ts";

export interface Answer {
  /** `open`: the data does not show a difference. `unknown`: there is nothing to compare with. */
  outcome: "better" | "worse" | "open" | "unknown";
  title: string;
  detail: string;
}

type Compared = Pick<ComparisonCandidate, "difference" | "interval" | "p_adjusted" | "min_detectable">;

const significant = 0.05;

/** Whether the model is shown to be better than predicting that nothing changes. */
export function answerOf(
  { pass_rate, no_change }: Pick<RunFigures, "pass_rate" | "no_change">,
  compared: Compared | undefined,
): Answer {
  if (compared === undefined || compared.difference === null) {
    if (pass_rate === null || no_change === null)
      return { outcome: "unknown", title: "No baseline to compare with", detail: "" };
    const points = formatPoints(pass_rate - no_change.pass_rate);
    return {
      outcome: "unknown",
      title: "Difference from no change not tested",
      detail: `That is ${points} points, of which a run of the baseline tells how certain they are.`,
    };
  }
  const { difference, interval, p_adjusted } = compared;
  const range =
    interval === null
      ? "no interval"
      : `95 % interval ${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`;
  const p = p_adjusted === null ? "" : `, ${describeP(p_adjusted)}`;
  const detail = `The mean score differs by ${formatPoints(difference)} points (${range}${p}).`;
  if (p_adjusted === null || p_adjusted >= significant)
    return { outcome: "open", title: "Not shown to be better than no change", detail };
  return difference > 0
    ? { outcome: "better", title: "Better than predicting no change", detail }
    : { outcome: "worse", title: "Worse than predicting no change", detail };
}
