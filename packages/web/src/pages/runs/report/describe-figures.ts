import type { RunFigures } from "@presage/sdk";
import {
  counted,
  countedIn,
  describeInterval,
  formatCount,
  formatScore,
  formatShare,
} from "../../../format/numbers.ts";
import type { IntervalRow } from "../../../ui/charts/interval-plot.tsx";

export const measures = ["pass_rate", "mean"] as const;
export type Measure = (typeof measures)[number];

export const measureLabels: Record<Measure, string> = { pass_rate: "Pass rate", mean: "Mean score" };

/** How tables with an axis write values: ticks are short, as the next heading is close. */
export const measureFormats: Record<Measure, Record<"format" | "formatTick", (value: number) => string>> = {
  pass_rate: { format: formatShare, formatTick: (value) => `${Math.round(value * 100)}` },
  mean: { format: formatScore, formatTick: formatScore },
};

type Counted = Pick<RunFigures, "count" | "trajectories" | "failed">;

/** “120 samples in 12 trajectories, 3 predictions without a verdict” */
export function describeBasis({ count, trajectories, failed }: Counted): string {
  const failures = failed === 0 ? "" : `, ${counted(failed, "prediction")} without a verdict`;
  return `${countedIn(count, trajectories)}${failures}`;
}

/** Explains each figure of a measure, and how its interval was made. */
export const measureExplanations: Record<Measure, string> = {
  pass_rate:
    "Share of the samples with a verdict that pass; failed ones are not in it. Interval at 95\u00a0%: Wilson’s with Student’s t, clustered by trajectory.",
  mean: "Mean score of the samples whose verdict has one, from 0 to 1; failed ones are not in it. Interval at 95\u00a0%: Wilson’s with Student’s t, clustered by trajectory.",
};

/** The value of a measure with its interval, the baseline, and what it was computed from. */
export function figureOf(
  figures: RunFigures,
  measure: Measure,
): Required<Pick<IntervalRow, "value" | "lower" | "upper" | "reference" | "count" | "basis">> {
  const interval = measure === "mean" ? figures.interval : figures.pass_interval;
  return {
    value: figures[measure],
    lower: interval?.lower ?? null,
    upper: interval?.upper ?? null,
    reference: figures.no_change?.[measure] ?? null,
    count: figures.count,
    basis: [`${describeBasis(figures)}.`, describeUnseen(figures, measure)].filter(Boolean).join(" "),
  };
}

type Explained = Pick<
  RunFigures,
  | "trajectories"
  | "unseen_share"
  | "lower_if_missing"
  | "pass_lower_if_missing"
  | "interval"
  | "pass_interval"
>;

/** What a small number of trajectories may fail to show. */
function describeUnseen(
  { trajectories, unseen_share: unseen, ...figures }: Explained,
  measure: Measure,
): string | undefined {
  const lower = measure === "mean" ? figures.lower_if_missing : figures.pass_lower_if_missing;
  if (unseen === null || lower === null) return undefined;
  return `With only ${formatCount(trajectories)} trajectories, chance may have left out a kind that makes up ${formatShare(unseen)} of all; if all of that kind fail, the lower end is ${measureFormats[measure].format(lower)}.`;
}

/** “0.61–0.72” */
function describeScores({ lower, upper }: { lower: number; upper: number }): string {
  return `${formatScore(lower)}–${formatScore(upper)}`;
}

export function explainFigures(figures: Explained, measure: Measure): string {
  const interval = measure === "mean" ? figures.interval : figures.pass_interval;
  const range =
    interval === null
      ? "There is no interval: the samples are in fewer than two trajectories."
      : `95\u00a0% interval: ${measure === "mean" ? describeScores(interval) : describeInterval(interval)}.`;
  return [measureExplanations[measure], range, describeUnseen(figures, measure)].filter(Boolean).join(" ");
}
