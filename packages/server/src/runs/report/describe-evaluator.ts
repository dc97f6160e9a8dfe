import type { ReportEvaluator, RunFigures } from "@presage/contract";
import { countOf } from "../../platform/count-of.ts";

type Described = Pick<ReportEvaluator, "evaluator" | "profile_name"> &
  Pick<
    RunFigures,
    "count" | "failed" | "trajectories" | "mean" | "interval" | "pass_rate" | "pass_interval" | "no_change"
  >;

/** What a run says by one evaluator, in a sentence for reports. Names are as they are: whoever writes the sentence escapes it. */
export function describeEvaluator(one: Described): string {
  const name = nameOf(one);
  const without = one.failed === 0 ? "" : ` ${countOf(one.failed, "prediction")} without a verdict.`;
  const basis = `${countOf(one.count, "sample")} in ${one.trajectories} ${one.trajectories === 1 ? "trajectory" : "trajectories"}`;
  if (one.pass_rate === null) {
    if (one.mean === null) return `${name} has no verdict.${without}`;
    const { interval } = one;
    const range =
      interval === null
        ? ""
        : ` (95 % interval ${interval.lower.toFixed(3)} to ${interval.upper.toFixed(3)})`;
    return `${name} scores ${one.mean.toFixed(3)}${range} on ${basis}.${without}`;
  }
  const { pass_interval: interval, no_change: unchanged } = one;
  const range =
    interval === null ? "" : ` (95 % interval ${points(interval.lower)} to ${points(interval.upper)} %)`;
  const some = unchanged === null || unchanged.count === one.count ? "" : ` of ${unchanged.count}`;
  const baseline =
    unchanged === null ? "" : `; leaving the state unchanged passes ${points(unchanged.pass_rate)} %${some}`;
  return `${name} passes ${points(one.pass_rate)} %${range} of ${basis}${baseline}.${without}`;
}

/** The family, and the profile unless it is the family's own. */
function nameOf({ evaluator, profile_name: profile }: Described): string {
  const family = evaluator.replace(/-\d{4}-\d{2}-\d{2}$/, "");
  return profile === null || profile === "system:default" ? family : `${family} ${profile}`;
}

/** 66.7 of a share of two thirds. */
function points(share: number): string {
  return (100 * share).toFixed(share === 0 || share === 1 ? 0 : 1);
}
