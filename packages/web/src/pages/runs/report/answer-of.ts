import type { ComparisonCandidate, RunFigures } from "@presage/sdk";
import { describeP, formatPoints } from "../../../format/format-difference.ts";

export interface Answer {
  /** `unknown`: there is nothing to compare with. */
  outcome: ComparisonCandidate["outcome"] | "unknown";
  title: string;
  detail: string;
}

type Compared = Pick<
  ComparisonCandidate,
  "difference" | "interval" | "measure" | "outcome" | "p_adjusted" | "survives_one_failure"
>;

const titles: Record<ComparisonCandidate["outcome"], string> = {
  better: "Better than predicting no change",
  worse: "Worse than predicting no change",
  undecided: "Not shown to be better than no change",
};

/** Whether the model is shown to be better than predicting that nothing changes. */
export function answerOf(
  { pass_rate, no_change }: Pick<RunFigures, "pass_rate" | "no_change">,
  compared: Compared | undefined,
): Answer {
  if (compared === undefined || compared.difference === null) {
    if (pass_rate === null || no_change === null)
      return { outcome: "unknown", title: "No baseline to compare with", detail: "" };
    return {
      outcome: "unknown",
      title: "Difference from no change not tested",
      detail: `The difference is ${formatPoints(pass_rate - no_change.pass_rate)} points; whether that is more than chance takes a run of the baseline.`,
    };
  }
  const { difference, interval, measure, outcome, p_adjusted } = compared;
  const range =
    interval === null
      ? "no interval"
      : `95 % interval ${formatPoints(interval.lower)} to ${formatPoints(interval.upper)}`;
  const p = p_adjusted === null ? "" : `, ${describeP(p_adjusted)}`;
  const what = measure === "score" ? "mean score" : "pass rate";
  const better = outcome === "better" ? "the model" : "no change";
  const undone =
    compared.survives_one_failure === false
      ? ` One trajectory in which ${better} fails whole would undo this.`
      : "";
  const detail = `The ${what} differs by ${formatPoints(difference)} points (${range}${p}).${undone}`;
  return { outcome, title: titles[outcome], detail };
}
