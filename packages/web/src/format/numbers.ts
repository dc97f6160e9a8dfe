import type { EvaluationSummaryGroup } from "@presage/sdk";

const whole = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** 12,345; a dash if there is no count. */
export function formatCount(count: number | null): string {
  return count === null ? "–" : whole.format(count);
}

/** “1 step”, “2,000 steps”; `plural` if it is not the noun with an s. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** 12.3K, where space is limited; show the exact number nearby or on hover. */
export function formatShortCount(count: number | null): string {
  return count === null ? "–" : compact.format(count);
}

/** “3 samples in 1 trajectory” */
export function countedIn(samples: number, trajectories: number, noun = "sample"): string {
  return `${counted(samples, noun)} in ${counted(trajectories, "trajectory", "trajectories")}`;
}

/** 84.5 %, from a share from 0 to 1. */
export function formatShare(share: number | null): string {
  return share === null ? "–" : `${(share * 100).toFixed(share === 0 || share === 1 ? 0 : 1)}\u00a0%`;
}

/** 85 %, for an axis. */
export function formatPercent(share: number): string {
  return `${Math.round(share * 100)}\u00a0%`;
}

/** Prevents line breaks within “95 %” or “p = 0.012”. */
export function unbroken(sentence: string): string {
  return sentence.replaceAll(/(?<=\d) (?=%)|(?<=\bp) (?=[=<])|(?<=\bp [=<]) /g, "\u00a0");
}

/** $12.35, or $0.00042: cents are too coarse for the cost of a few predictions. */
export function formatCost(cost: number | null, currency: string): string {
  if (cost === null) return "–";
  const isSmall = cost > 0 && cost < 0.00995;
  const digits = isSmall ? { minimumSignificantDigits: 2, maximumSignificantDigits: 2 } : {};
  return new Intl.NumberFormat("en", { style: "currency", currency, ...digits }).format(cost);
}

/** $1.2K, or $0.20, for an axis. */
export function formatShortCost(cost: number, currency: string): string {
  if (cost >= 0.01 && cost < 10 && !Number.isInteger(cost)) return formatCost(cost, currency);
  const digits = { notation: "compact", maximumSignificantDigits: 2 } as const;
  return new Intl.NumberFormat("en", { style: "currency", currency, ...digits }).format(cost);
}

/** 0.873 */
export function formatScore(score: number | null): string {
  // Rounded like a percentage, so that 0.7875 is 0.788 beside 78.8 %. Avoids “-0”.
  return score === null ? "–" : String(Math.round(1000 * score) / 1000 + 0);
}

/** The mean score, or the pass rate if no verdict has a score. */
export function formatMeasured({
  mean,
  pass_rate,
}: {
  mean: number | null;
  pass_rate: number | null;
}): string {
  return mean === null ? formatShare(pass_rate) : formatScore(mean);
}

/** “action 0.7, state 0.2” */
export function formatFields(fields: Partial<Record<string, number>>): string {
  return Object.entries(fields)
    .map(([name, value = null]) => `${name} ${formatScore(value)}`)
    .join(", ");
}

/** 840 µs, 12.4 ms, 1.2 s */
export function formatDuration(milliseconds: number): string {
  // The limits are where rounding would reach the next unit or another digit.
  if (milliseconds < 0.9995) return `${Math.round(milliseconds * 1000)} µs`;
  if (milliseconds < 99.95) return `${milliseconds.toFixed(1)} ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 2 : 1)} s`;
}

const units = ["kB", "MB", "GB"] as const;

/** 840 bytes, 12.3 kB, 1.0 MB */
export function formatSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  let size = bytes / 1_000;
  let index = 0;
  while (size >= 999.95 && index < units.length - 1) {
    size /= 1_000;
    index += 1;
  }
  return `${size.toFixed(1)} ${units[index]}`;
}

/** A p-value; small ones are shown as a bound. */
export function formatP(p: number | null): string {
  if (p === null) return "–";
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

type Figures = Pick<
  EvaluationSummaryGroup,
  "passed" | "not_passed" | "clusters" | "interval_method" | "pass_rate_interval"
>;

/** With fewer clusters, an interval is itself uncertain. */
const enoughClusters = 10;

/** “2,000 verdicts in 100 clusters”; a cluster of its own for each verdict is not named. */
export function describeVerdicts({ passed, not_passed, clusters }: Figures): string {
  const verdicts = counted(passed + not_passed, "verdict");
  return clusters === null || clusters === passed + not_passed
    ? verdicts
    : `${verdicts} in ${counted(clusters, "cluster")}`;
}

/** “75.6–79.3 %” */
export function describeInterval({ lower, upper }: { lower: number; upper: number }): string {
  return `${formatShare(lower).replace(/\s%/, "")}–${formatShare(upper)}`;
}

/** Explains what an interval is and how it was made, or why there is none. */
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
  const range = `95\u00a0% confidence interval: ${describeInterval(pass_rate_interval)}.`;
  if (interval_method === "independent") {
    return `${range} Every verdict is taken as independent, as none names a trajectory or a sample.`;
  }
  const few = (clusters ?? 0) < enoughClusters ? " There are few clusters, so it is uncertain." : "";
  return `${range} Verdicts about the same trajectory, otherwise the same sample, tend to agree, so they are taken as one group, a cluster.${few}`;
}
