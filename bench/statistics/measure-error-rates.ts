import { pairedDifference } from "../../packages/server/src/evaluation/statistics/paired-difference.ts";
import { signFlipTest } from "../../packages/server/src/evaluation/statistics/sign-flip-test.ts";
import { z95 } from "../../packages/server/src/evaluation/statistics/wilson-interval.ts";
import { type Design, fiftyEqual, recorded, twentyEqual } from "./designs.ts";
import { createDraws, type Draws, intraClusterCorrelation } from "./draws.ts";

/** Of two runs that do not differ, the shares of data sets in which a test says at 5 % that they do. */
export interface ErrorRates {
  readonly design: Design;
  readonly tTest: number;
  readonly permutation: number;
  /** The t test says so, and the candidate is worse: what a gate refuses. */
  readonly worse: number;
  /** The paired test of as many independent samples. */
  readonly naive: number;
}

const rate = 0.7;
const level = 0.05;

interface Cluster {
  readonly count: number;
  readonly sum: number;
  readonly sumOfSquares: number;
}

/** Each run has its own rate in each trajectory, so that the differences within a trajectory depend on each other. */
const drawCluster = (draws: Draws, count: number): Cluster => {
  const total = 1 / intraClusterCorrelation - 1;
  const candidate = draws.beta(rate * total, (1 - rate) * total);
  const reference = draws.beta(rate * total, (1 - rate) * total);
  let [sum, sumOfSquares] = [0, 0];
  for (let sample = 0; sample < count; sample++) {
    const difference = Number(draws.chance(candidate)) - Number(draws.chance(reference));
    sum += difference;
    sumOfSquares += difference * difference;
  }
  return { count, sum, sumOfSquares };
};

const isNaivelyRejected = (clusters: readonly Cluster[]): boolean => {
  let [count, sum, sumOfSquares] = [0, 0, 0];
  for (const cluster of clusters) {
    count += cluster.count;
    sum += cluster.sum;
    sumOfSquares += cluster.sumOfSquares;
  }
  const variance = (sumOfSquares - sum ** 2 / count) / (count - 1);
  return Math.abs(sum / count) > z95 * Math.sqrt(variance / count);
};

const measure = async (design: Design, sets: number): Promise<ErrorRates> => {
  const draws = createDraws(20261123);
  let [tTest, permutation, worse, naive] = [0, 0, 0, 0];
  for (let set = 0; set < sets; set++) {
    const clusters = design.sizes.map((size) => drawCluster(draws, size));
    const { difference, pValue } = pairedDifference(clusters);
    const isRejected = pValue !== null && pValue < level;
    tTest += Number(isRejected);
    worse += Number(isRejected && difference !== null && difference < 0);
    const sums = clusters.map(({ sum }) => sum);
    permutation += Number(((await signFlipTest(sums, set)) ?? 1) < level);
    naive += Number(isNaivelyRejected(clusters));
  }
  return {
    design,
    tTest: tTest / sets,
    permutation: permutation / sets,
    worse: worse / sets,
    naive: naive / sets,
  };
};

export const measureErrorRates = (sets: number): Promise<ErrorRates[]> =>
  Promise.all([fiftyEqual, ...recorded, twentyEqual].map((design) => measure(design, sets)));
