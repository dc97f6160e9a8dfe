import { setImmediate as nextTurn } from "node:timers/promises";
import type { ComparisonCandidate, ComparisonStratum } from "@presage/contract";
import {
  areAlike,
  detectableDifference,
  differenceOf,
  fewestClusters,
  level,
  overallSigns,
  pairedDifference,
  strataSigns,
  survivesOneFailure,
} from "../../platform/statistics/differences.ts";
import { type ClusterSum, rounding, unseenShare } from "../../platform/statistics/intervals.ts";
import { countRepeats, createTally, type Outcomes } from "../report/outcomes.ts";
import { type Dimension, type RunSamples, together } from "../report/samples.ts";

const samplesAtOnce = 50_000;

/** One evaluator's values for a run, by the index of the reference's samples; NaN if a sample has no value. */
export interface Values {
  readonly score: Float64Array;
  readonly pass: Float64Array;
  /** For samples with a value or a failure, which scores 0 and does not pass. */
  readonly scoreWithFailures: Float64Array;
  readonly passWithFailures: Float64Array;
  /** Whether each verdict has a score. */
  readonly isGraded: boolean;
  /** How many samples that the reference's revision does not have get a value. */
  readonly elsewhere: Readonly<Record<ComparisonCandidate["measure"], number>>;
}

/** The compared measure: scores, or verdicts if any run has verdicts without a score. */
export interface Measured {
  readonly measure: ComparisonCandidate["measure"];
  value(values: Values): Float64Array;
  withFailures(values: Values): Float64Array;
}

export function measureOf(all: readonly Values[]): Measured {
  const has = (values: Float64Array) => values.some((value) => !Number.isNaN(value));
  return all.some(({ score }) => has(score)) && all.every(({ pass, isGraded }) => isGraded || !has(pass))
    ? { measure: "score", value: ({ score }) => score, withFailures: (of) => of.scoreWithFailures }
    : { measure: "pass_rate", value: ({ pass }) => pass, withFailures: (of) => of.passWithFailures };
}

/**
 * A sample's value is the mean of its repeats. If results are scores alone, they have no passes to count. `others`: the run's samples that
 * the reference's revision does not have.
 */
export async function valuesOf(
  outcomes: Outcomes,
  indexes: Int32Array,
  others: readonly number[],
  hasPasses: boolean,
): Promise<Values> {
  const none = () => new Float64Array(indexes.length).fill(Number.NaN);
  const values = { score: none(), pass: none(), scoreWithFailures: none(), passWithFailures: none() };
  let isGraded = true;
  const tally = createTally();
  for (let index = 0; index < indexes.length; index++) {
    if (index % samplesAtOnce === 0) await nextTurn();
    const own = indexes[index] ?? -1;
    if (own < 0) continue;
    countRepeats(outcomes, own, tally);
    const { judged, passed, failed } = tally;
    const score = outcomes.scores[own] ?? 0;
    const graded = outcomes.graded[own] ?? 0;
    isGraded &&= graded >= judged;
    if (graded + failed > 0) values.scoreWithFailures[index] = score / (graded + failed);
    if (graded > 0) values.score[index] = score / graded;
    if (!hasPasses) continue;
    if (judged + failed > 0) values.passWithFailures[index] = passed / (judged + failed);
    if (judged > 0) values.pass[index] = passed / judged;
  }
  const elsewhere = { score: 0, pass_rate: 0 };
  for (const own of others) {
    countRepeats(outcomes, own, tally);
    if ((outcomes.graded[own] ?? 0) > 0) elsewhere.score += 1;
    if (hasPasses && tally.judged > 0) elsewhere.pass_rate += 1;
  }
  return { ...values, isGraded, elsewhere };
}

/** The indexes, in this order, of samples that have a value in all of these. */
export function indexesOfAll(order: Int32Array, all: readonly Float64Array[]): Int32Array {
  const found = new Int32Array(order.length);
  let count = 0;
  for (const index of order) {
    // A sum with NaN is NaN.
    let sum = 0;
    for (const values of all) sum += values[index] ?? Number.NaN;
    if (Number.isNaN(sum)) continue;
    found[count] = index;
    count += 1;
  }
  return found.subarray(0, count);
}

function meanOf(values: Float64Array, indexes: Int32Array): number | null {
  if (indexes.length === 0) return null;
  let sum = 0;
  for (const index of indexes) sum += values[index] ?? 0;
  return sum / indexes.length;
}

/** The number of samples for which only the first one has a value. */
function countOnlyIn(one: Float64Array, other: Float64Array): number {
  let count = 0;
  for (let index = 0; index < one.length; index++) {
    if (!Number.isNaN(one[index]) && Number.isNaN(other[index])) count += 1;
  }
  return count;
}

/** Any seed will do; a fixed one always gives the same comparison. */
export const permutationSeed = 1;

/** The samples that all runs have in common, in the order of trajectories. */
export interface Common {
  samples: RunSamples;
  measured: Measured;
  /** Samples with a value in all runs. */
  judged: Int32Array;
  /** Samples with a value or a failure in all runs. */
  ended: Int32Array;
}

export interface ComparisonDimensions {
  step: Dimension;
  changed: Dimension;
  changes: Dimension;
}

/** A candidate compared with the reference, without the fields that depend on the other p-values. */
export interface ComparedValues
  extends Omit<ComparisonCandidate, "run_id" | "p_adjusted" | "outcome" | "why" | "survives_one_failure"> {
  differing: number;
  /** Whether the difference would survive a trajectory in which the better run fails completely. */
  survives: boolean;
}

export async function compareValues(
  reference: Values,
  candidate: Values,
  common: Common,
  dimensions: ComparisonDimensions,
): Promise<ComparedValues> {
  const { samples, judged, measured } = common;
  const values = { reference: measured.value(reference), candidate: measured.value(candidate) };
  const [clusters = []] = await clustersBy(together(samples), values, common);
  const { difference, pValue, interval } = await pairedDifference(clusters, overallSigns, permutationSeed);
  const { minDetectable, trajectoriesFor1Point } = detectableDifference(clusters);
  const means = meansOf(candidate, common);
  const withFailures = {
    reference: meanOf(measured.withFailures(reference), common.ended),
    candidate: meanOf(measured.withFailures(candidate), common.ended),
  };
  const strata = (dimension: Dimension) => compareStrata(dimension, values, common);
  return {
    ...means,
    trajectories: clusters.length,
    measure: measured.measure,
    difference,
    interval,
    p_value: pValue,
    p_permutation: pValue,
    differing: clusters.filter((one) => differenceOf(one) !== 0).length,
    survives:
      pValue !== null &&
      pValue < level &&
      (await survivesOneFailure(
        clusters,
        {
          reference: meanOf(values.reference, judged) ?? 0,
          candidate: meanOf(values.candidate, judged) ?? 0,
        },
        permutationSeed,
      )),
    unseen_share: clusters.length === 0 ? null : unseenShare(clusters.length),
    ...countSides(values.reference, values.candidate, judged),
    only_in_reference: countOnlyIn(values.reference, values.candidate),
    only_in_candidate:
      countOnlyIn(values.candidate, values.reference) + candidate.elsewhere[measured.measure],
    difference_failures_as_zero:
      withFailures.candidate === null ? null : withFailures.candidate - (withFailures.reference ?? 0),
    min_detectable: minDetectable,
    trajectories_for_1_point: trajectoriesFor1Point,
    strata: {
      exploratory: true,
      step: await strata(dimensions.step),
      changed: await strata(dimensions.changed),
      changes: await strata(dimensions.changes),
    },
    note: noteOnTest(clusters),
  };
}

/** The means of a run over the samples that all runs have. */
export function meansOf(
  values: Values,
  { judged, ended, measured }: Common,
): Pick<ComparisonCandidate, "mean" | "pass_rate" | "count" | "mean_failures_as_zero"> {
  const hasScores = measured.measure === "score";
  return {
    mean: hasScores ? meanOf(values.score, judged) : null,
    pass_rate: meanOf(values.pass, judged),
    count: judged.length,
    mean_failures_as_zero: hasScores ? meanOf(values.scoreWithFailures, ended) : null,
  };
}

/** A warning if trajectories are too few for the test, or do not show how much others would differ. */
function noteOnTest(clusters: readonly ClusterSum[]): string | null {
  if (clusters.length === 0) return null;
  if (clusters.length < fewestClusters) {
    const trajectories = clusters.length === 1 ? "1 trajectory is" : `${clusters.length} trajectories are`;
    return `${trajectories} too few to tell a difference from chance: at least ${fewestClusters} are needed.`;
  }
  return areAlike(clusters)
    ? "All trajectories differ alike, which does not show how far others would."
    : null;
}

function countSides(
  reference: Float64Array,
  candidate: Float64Array,
  indexes: Int32Array,
): Pick<ComparisonCandidate, "wins" | "losses" | "ties"> {
  let wins = 0;
  let losses = 0;
  for (const index of indexes) {
    const difference = (candidate[index] ?? 0) - (reference[index] ?? 0);
    if (difference > rounding) wins += 1;
    else if (difference < -rounding) losses += 1;
  }
  return { wins, losses, ties: indexes.length - wins - losses };
}

/** The compared values, by the index of a sample. */
interface PairedValues {
  reference: Float64Array;
  candidate: Float64Array;
}

/** A cluster of differences, with the sum of the reference's values. */
interface PairedCluster extends ClusterSum {
  trajectory: number;
  reference: number;
}

/** The clusters of each group of a dimension: the differences of each trajectory. */
async function clustersBy(
  { keys, of }: Dimension,
  { reference, candidate }: PairedValues,
  { samples, judged }: Common,
): Promise<PairedCluster[][]> {
  const groups: PairedCluster[][] = keys.map(() => []);
  for (let place = 0; place < judged.length; place++) {
    if (place % samplesAtOnce === 0) await nextTurn();
    const index = judged[place] ?? 0;
    const clusters = groups[of[index] ?? -1];
    if (clusters === undefined) continue;
    const trajectory = samples.trajectories.of[index] ?? 0;
    // The samples of a trajectory are adjacent.
    let last = clusters.at(-1);
    if (last?.trajectory !== trajectory) {
      last = { trajectory, count: 0, sum: 0, reference: 0 };
      clusters.push(last);
    }
    last.count += 1;
    last.sum += (candidate[index] ?? 0) - (reference[index] ?? 0);
    last.reference += reference[index] ?? 0;
  }
  return groups;
}

async function compareStrata(dimension: Dimension, values: PairedValues, common: Common) {
  const groups = await clustersBy(dimension, values, common);
  const strata: ComparisonStratum[] = [];
  for (const [group, key] of dimension.keys.entries()) {
    const clusters = groups[group] ?? [];
    const count = clusters.reduce((sum, one) => sum + one.count, 0);
    if (count === 0) continue;
    const referenceMean = clusters.reduce((sum, one) => sum + one.reference, 0) / count;
    const { difference, pValue, interval } = await pairedDifference(clusters, strataSigns, permutationSeed);
    strata.push({
      key,
      count,
      trajectories: clusters.length,
      reference_mean: referenceMean,
      mean: referenceMean + (difference ?? 0),
      difference,
      interval,
      p_value: pValue,
    });
  }
  return strata;
}
