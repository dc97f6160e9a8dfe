import type { EvaluationSummaryGroup } from "@presage/sdk";
import { formatCount, formatShare } from "./format-number.ts";

type Figures = Pick<
  EvaluationSummaryGroup,
  "passed" | "not_passed" | "clusters" | "interval_method" | "pass_rate_interval"
>;

/** With fewer clusters an interval is itself uncertain. */
const enoughClusters = 10;

/** “2,000 verdicts in 100 clusters” */
export function describeVerdicts({ passed, not_passed, clusters }: Figures): string {
  const verdicts = counted(passed + not_passed, "verdict");
  return clusters === null ? verdicts : `${verdicts} in ${counted(clusters, "cluster")}`;
}

/** “75.6–79.3 %” */
export function describeInterval({ lower, upper }: { lower: number; upper: number }): string {
  return `${(lower * 100).toFixed(lower === 0 ? 0 : 1)}–${formatShare(upper)}`;
}

/** What an interval is, how it was made, or why there is none. */
export function explainInterval({
  passed,
  not_passed,
  clusters,
  interval_method,
  pass_rate_interval,
}: Figures): string {
  if (passed + not_passed === 0) return "There are no verdicts.";
  if (interval_method === null) return "There are too many results to compute an interval.";
  if (pass_rate_interval === null) {
    return "There is no interval: all verdicts are about one trajectory or sample, which does not show how far others differ.";
  }
  const range = `95 % confidence interval: ${describeInterval(pass_rate_interval)}.`;
  if (interval_method === "independent") {
    return `${range} Every verdict is taken as independent, as none names a trajectory or a sample.`;
  }
  const few = (clusters ?? 0) < enoughClusters ? " There are few clusters, so it is uncertain." : "";
  return `${range} Verdicts about the same trajectory, otherwise the same sample, tend to agree, so they are taken as one group, a cluster.${few}`;
}

function counted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}
