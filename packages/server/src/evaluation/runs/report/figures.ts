import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunFigures } from "@presage/contract";
import {
  clusteredError,
  clusteredMeanInterval,
  clusteredRateInterval,
} from "../../statistics/clustered-interval.ts";
import { countRepeats, type Outcomes, type Tally } from "../outcomes/read-outcomes.ts";
import type { RunSamples } from "../outcomes/run-samples.ts";
import type { Dimension } from "../outcomes/strata.ts";

/** Other work gets a turn after this many samples, which take a few milliseconds. */
const samplesAtOnce = 20_000;
/** With fewer, the t of the intervals assumes too much. */
const fewTrajectories = 10;

/** Sums of each group of a dimension, by its number. */
export interface Sums {
  /** The trajectory that the sums of the current cluster are of. */
  current: Int32Array;
  clusterCount: Float64Array;
  clusterScore: Float64Array;
  clusterPasses: Float64Array;
  clusters: Float64Array;
  count: Float64Array;
  countSquares: Float64Array;
  score: Float64Array;
  scoreSquares: Float64Array;
  countScores: Float64Array;
  passes: Float64Array;
  passSquares: Float64Array;
  countPasses: Float64Array;
  failed: Float64Array;
  /** Of all samples with a verdict or a failure, which scores 0. */
  countWithFailures: Float64Array;
  scoreWithFailures: Float64Array;
  passesWithFailures: Float64Array;
  unchangedCount: Float64Array;
  unchangedScore: Float64Array;
  unchangedPasses: Float64Array;
}

/** Sums the outcomes of each group of a dimension. */
export async function sumsBy(
  { keys, of, sets }: Dimension,
  { order, trajectories }: RunSamples,
  outcomes: Outcomes,
): Promise<Sums> {
  const sums = createSums(keys.length);
  const tally: Tally = { judged: 0, passed: 0, failed: 0 };
  for (let start = 0; start < order.length; start += samplesAtOnce) {
    const end = Math.min(order.length, start + samplesAtOnce);
    for (let place = start; place < end; place++) {
      const index = order[place] ?? 0;
      const group = of[index] ?? -1;
      if (group < 0) continue;
      countRepeats(outcomes, index, tally);
      if (tally.judged + tally.failed === 0) continue;
      const trajectory = trajectories.of[index] ?? 0;
      if (sets === undefined) addSample(sums, group, trajectory, index, outcomes, tally);
      else for (const one of sets[group] ?? []) addSample(sums, one, trajectory, index, outcomes, tally);
    }
    await nextTurn();
  }
  for (let group = 0; group < keys.length; group++) endCluster(sums, group);
  return sums;
}

function createSums(groups: number): Sums {
  const numbers = () => new Float64Array(groups);
  return {
    current: new Int32Array(groups).fill(-1),
    clusterCount: numbers(),
    clusterScore: numbers(),
    clusterPasses: numbers(),
    clusters: numbers(),
    count: numbers(),
    countSquares: numbers(),
    score: numbers(),
    scoreSquares: numbers(),
    countScores: numbers(),
    passes: numbers(),
    passSquares: numbers(),
    countPasses: numbers(),
    failed: numbers(),
    countWithFailures: numbers(),
    scoreWithFailures: numbers(),
    passesWithFailures: numbers(),
    unchangedCount: numbers(),
    unchangedScore: numbers(),
    unchangedPasses: numbers(),
  };
}

function addSample(
  sums: Sums,
  group: number,
  trajectory: number,
  index: number,
  { scores, unchangedScore, unchangedPass }: Outcomes,
  { judged, passed, failed }: Tally,
): void {
  const score = scores[index] ?? 0;
  add(sums.failed, group, failed);
  add(sums.countWithFailures, group, 1);
  add(sums.scoreWithFailures, group, score / (judged + failed));
  add(sums.passesWithFailures, group, passed / (judged + failed));
  if (judged === 0) return;
  // The samples of a trajectory follow one another.
  if (sums.current[group] !== trajectory) {
    endCluster(sums, group);
    sums.current[group] = trajectory;
  }
  add(sums.clusterCount, group, 1);
  add(sums.clusterScore, group, score / judged);
  add(sums.clusterPasses, group, passed / judged);
  const unchanged = unchangedScore[index] ?? Number.NaN;
  if (Number.isNaN(unchanged)) return;
  add(sums.unchangedCount, group, 1);
  add(sums.unchangedScore, group, unchanged);
  add(sums.unchangedPasses, group, unchangedPass[index] ?? 0);
}

function endCluster(sums: Sums, group: number): void {
  const count = sums.clusterCount[group] ?? 0;
  if (count === 0) return;
  const score = sums.clusterScore[group] ?? 0;
  const passes = sums.clusterPasses[group] ?? 0;
  add(sums.clusters, group, 1);
  add(sums.count, group, count);
  add(sums.countSquares, group, count * count);
  add(sums.score, group, score);
  add(sums.scoreSquares, group, score * score);
  add(sums.countScores, group, count * score);
  add(sums.passes, group, passes);
  add(sums.passSquares, group, passes * passes);
  add(sums.countPasses, group, count * passes);
  sums.clusterCount[group] = 0;
  sums.clusterScore[group] = 0;
  sums.clusterPasses[group] = 0;
}

function add(to: Float64Array, group: number, amount: number): void {
  to[group] = (to[group] ?? 0) + amount;
}

/** Whether there is a verdict or a failure in a group. */
export function hasOutcomes({ countWithFailures }: Sums, group: number): boolean {
  return (countWithFailures[group] ?? 0) > 0;
}

/** A group's mean score if failures score 0. Null without verdicts and failures. */
export function meanWithFailures(
  { scoreWithFailures, countWithFailures }: Sums,
  group: number,
): number | null {
  return shareOf(scoreWithFailures[group], countWithFailures[group]);
}

function shareOf(sum = 0, count = 0): number | null {
  return count === 0 ? null : sum / count;
}

/** A group's figures; they are null where there is nothing to make them of. */
export function toFigures(sums: Sums, group: number): RunFigures {
  const at = (values: Float64Array) => values[group] ?? 0;
  const common = {
    clusters: at(sums.clusters),
    count: at(sums.count),
    countSquares: at(sums.countSquares),
  };
  const scores = {
    ...common,
    sum: at(sums.score),
    sumSquares: at(sums.scoreSquares),
    countSums: at(sums.countScores),
  };
  const passes = {
    ...common,
    sum: at(sums.passes),
    sumSquares: at(sums.passSquares),
    countSums: at(sums.countPasses),
  };
  const unchanged = at(sums.unchangedCount);
  return {
    count: common.count,
    failed: at(sums.failed),
    trajectories: common.clusters,
    mean: shareOf(scores.sum, scores.count),
    standard_error: clusteredError(scores),
    interval: clusteredMeanInterval(scores),
    pass_rate: shareOf(passes.sum, passes.count),
    pass_standard_error: clusteredError(passes),
    pass_interval: clusteredRateInterval(passes),
    mean_failures_as_zero: meanWithFailures(sums, group),
    pass_rate_failures_as_zero: shareOf(at(sums.passesWithFailures), at(sums.countWithFailures)),
    no_change:
      unchanged === 0
        ? null
        : {
            mean: at(sums.unchangedScore) / unchanged,
            pass_rate: at(sums.unchangedPasses) / unchanged,
            count: unchanged,
          },
    note: noteOn(common.clusters),
  };
}

/** A warning if there are few clusters. */
export function noteOn(trajectories: number): string | null {
  if (trajectories === 0 || trajectories >= fewTrajectories) return null;
  return trajectories === 1
    ? "One trajectory only: there is no interval."
    : `Only ${trajectories} trajectories: the intervals are rough.`;
}
