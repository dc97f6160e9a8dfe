import type { LabelAgreement } from "@presage/contract";
import { type ClusteredFigure, tQuantile, wilsonBounds } from "../intervals.ts";

/** Half widths. */
const aimedAt = [0.1, 0.05, 0.02];
/** Beyond, nobody labels. */
const most = 1_000_000;

type Known = Pick<ClusteredFigure, "value" | "interval" | "count" | "effective_trajectories">;

/**
 * The fewest more labels with which Wilson's interval is as narrow as the next aim, if they come from as many more trajectories in
 * proportion and are as much alike within them as those so far. Before there is an interval: half agree, each label of its own trajectory.
 */
export function moreLabels({
  value,
  interval,
  count,
  effective_trajectories,
}: Known): LabelAgreement["more_labels"] {
  const isKnown = value !== null && interval !== null && effective_trajectories !== null;
  const half = isKnown ? (interval.upper - interval.lower) / 2 : 1;
  const aim = aimedAt.find((width) => width < half);
  if (aim === undefined) return { half_width: aimedAt.at(-1) ?? 0, count: null };
  const rate = isKnown ? value : 0.5;
  const trajectoriesOfLabel = isKnown ? effective_trajectories / count : 1;
  const effect = isKnown ? count / trialsWithin(rate, critical(effective_trajectories), half) : 1;
  const isEnough = (labels: number) =>
    halfWidth(rate, labels / effect, critical(trajectoriesOfLabel * labels)) <= aim;
  let [below, enough] = [count, Math.max(2, 2 * count)];
  while (!isEnough(enough) && enough < most) [below, enough] = [enough, 2 * enough];
  while (enough - below > 1) {
    const middle = Math.floor((below + enough) / 2);
    if (isEnough(middle)) enough = middle;
    else below = middle;
  }
  return { half_width: aim, count: enough - count };
}

const critical = (trajectories: number) => tQuantile(0.975, trajectories - 1);

function halfWidth(rate: number, trials: number, t: number): number {
  const { lower, upper } = wilsonBounds(rate, trials, t);
  return (upper - lower) / 2;
}

/** In how many trials Wilson's interval has this half width. */
function trialsWithin(rate: number, t: number, half: number): number {
  let [few, many] = [1e-6, 1];
  while (halfWidth(rate, many, t) > half) [few, many] = [many, 2 * many];
  for (let step = 0; step < 60; step++) {
    const middle = (few + many) / 2;
    if (halfWidth(rate, middle, t) > half) few = middle;
    else many = middle;
  }
  return many;
}
