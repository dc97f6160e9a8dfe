import { setImmediate as nextTurn } from "node:timers/promises";
import type { ComparisonCandidate, ComparisonStratum } from "@presage/contract";
import { type ClusterSum, rounding } from "../../statistics/clustered-interval.ts";
import { detectableDifference } from "../../statistics/detectable-difference.ts";
import { pairedDifference } from "../../statistics/paired-difference.ts";
import { signFlipTest } from "../../statistics/sign-flip-test.ts";
import type { RunSamples } from "../outcomes/run-samples.ts";
import { type Dimension, together } from "../outcomes/strata.ts";
import { noteOn } from "../report/figures.ts";
import { countOnlyIn, meanOf, type Values } from "./paired-values.ts";

const samplesAtOnce = 50_000;

/** Any will do; the same one makes the same comparison. */
export const permutationSeed = 1;

/** What samples all runs have in common, in the order of trajectories. */
export interface Common {
  samples: RunSamples;
  /** With a verdict in all runs. */
  judged: Int32Array;
  /** With a verdict or a failure in all runs. */
  ended: Int32Array;
}

export interface ComparisonDimensions {
  step: Dimension;
  changed: Dimension;
  changes: Dimension;
}

/** A candidate beside the reference, but for what depends on the other candidates. */
export async function compareValues(
  reference: Values,
  candidate: Values,
  common: Common,
  dimensions: ComparisonDimensions,
): Promise<Omit<ComparisonCandidate, "run_id" | "p_adjusted">> {
  const { samples, judged, ended } = common;
  const [clusters = []] = await clustersBy(together(samples), reference, candidate, common);
  const differences = clusters.map(({ sum }) => sum);
  const { difference, pValue, interval } = pairedDifference(clusters);
  const { minDetectable, trajectoriesFor1Point } = detectableDifference(clusters);
  const withFailures = meanOf(candidate.withFailures, ended);
  const strata = (dimension: Dimension) => compareStrata(dimension, reference, candidate, common);
  return {
    mean: meanOf(candidate.score, judged),
    pass_rate: meanOf(candidate.pass, judged),
    count: judged.length,
    mean_failures_as_zero: withFailures,
    trajectories: clusters.length,
    difference,
    interval,
    p_value: pValue,
    p_permutation: await signFlipTest(differences, permutationSeed),
    ...countSides(reference.score, candidate.score, judged),
    only_in_reference: countOnlyIn(reference.score, candidate.score),
    only_in_candidate: countOnlyIn(candidate.score, reference.score),
    difference_failures_as_zero:
      withFailures === null ? null : withFailures - (meanOf(reference.withFailures, ended) ?? 0),
    min_detectable: minDetectable,
    trajectories_for_1_point: trajectoriesFor1Point,
    strata: {
      exploratory: true,
      step: await strata(dimensions.step),
      changed: await strata(dimensions.changed),
      changes: await strata(dimensions.changes),
    },
    note: noteOnTest(clusters.length),
  };
}

/** A warning if there are few clusters: of n, no signs have a p-value below 2^(1 − n). */
function noteOnTest(trajectories: number): string | null {
  const note = noteOn(trajectories);
  if (trajectories < 2 || trajectories > 5) return note;
  return `${note} Flipped signs cannot give a p under ${2 ** (1 - trajectories)}.`;
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

/** A cluster of differences, with the sum of the reference's scores. */
interface PairedCluster extends ClusterSum {
  trajectory: number;
  reference: number;
}

/** The clusters of each group of a dimension: the differences of each trajectory. */
async function clustersBy(
  { keys, of }: Dimension,
  { score: reference }: Values,
  { score: candidate }: Values,
  { samples, judged }: Common,
): Promise<PairedCluster[][]> {
  const groups: PairedCluster[][] = keys.map(() => []);
  for (let place = 0; place < judged.length; place++) {
    if (place % samplesAtOnce === 0) await nextTurn();
    const index = judged[place] ?? 0;
    const clusters = groups[of[index] ?? -1];
    if (clusters === undefined) continue;
    const trajectory = samples.trajectories.of[index] ?? 0;
    // The samples of a trajectory follow one another.
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

async function compareStrata(
  dimension: Dimension,
  reference: Values,
  candidate: Values,
  common: Common,
): Promise<ComparisonStratum[]> {
  const groups = await clustersBy(dimension, reference, candidate, common);
  return dimension.keys.flatMap((key, group) => {
    const clusters = groups[group] ?? [];
    const count = clusters.reduce((sum, one) => sum + one.count, 0);
    if (count === 0) return [];
    const referenceMean = clusters.reduce((sum, one) => sum + one.reference, 0) / count;
    const { difference, pValue, interval } = pairedDifference(clusters);
    return {
      key,
      count,
      trajectories: clusters.length,
      reference_mean: referenceMean,
      mean: referenceMean + (difference ?? 0),
      difference,
      interval,
      p_value: pValue,
    };
  });
}
