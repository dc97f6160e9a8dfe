import {
  overallSigns,
  pairedDifference,
  survivesOneFailure,
} from "../../packages/server/src/platform/statistics/differences.ts";
import { tQuantile } from "../../packages/server/src/platform/statistics/intervals.ts";
import { createDraws, type Draws, dependences, fewLengths, type Lengths } from "./designs.ts";

interface Pair {
  readonly name: string;
  /** How often the reference passes. */
  readonly rate: number;
  /** How often the candidate passes, if the two pass independently. */
  readonly candidate?: number;
  /** Otherwise the candidate passes what the reference passes, and this share of the rest. */
  readonly gain?: number;
  /** The shares of trajectories in which the reference and the candidate fail entirely. */
  readonly fails?: readonly [number, number];
}

/** Shares of data sets. */
export interface ErrorRates {
  readonly trajectories: number;
  readonly lengths: Lengths;
  readonly pair: Pair;
  /** Flipped signs find a difference; a worse candidate, which fails a gate; a difference that survives one failure. */
  readonly flips: number;
  readonly worse: number;
  readonly survives: number;
  /** The t test of the trajectories' sums, the former test, finds a difference. */
  readonly tTest: number;
  /** The interval contains the true difference, of those that have an interval. */
  readonly covered: number;
}

const level = 0.05;
const correlation = 0.3;
/** All signs of 20 trajectories take a hundred times as long as these. */
const signs = { ...overallSigns, mostClusters: 12 };

/** No true difference: the candidate gains elsewhere as much as it loses. */
const failsWhole = (share: number): Pair => ({
  name: `B fails whole in ${100 * share} %, and is better elsewhere`,
  rate: 0.8,
  gain: (4 * share) / (1 - share),
  fails: [0, share],
});

export const samePairs: readonly Pair[] = [
  { name: "both pass 70 %", rate: 0.7, candidate: 0.7 },
  { name: "both pass 95 %", rate: 0.95, candidate: 0.95 },
  { name: "both pass 80 %, and fail whole in 10 %", rate: 0.8, candidate: 0.8, fails: [0.1, 0.1] },
];
export const wholeFailures: readonly Pair[] = [failsWhole(0.05), failsWhole(0.1)];
const betterPairs: readonly Pair[] = [
  { name: "60 % and 80 %", rate: 0.6, candidate: 0.8 },
  { name: "60 % and 80 %, nowhere worse", rate: 0.6, gain: 0.5 },
  { name: "70 % and 80 %, nowhere worse", rate: 0.7, gain: 1 / 3 },
];

/** Independent runs have their own rates in each trajectory (beta-binomial), so that differences in it depend on each other. */
const drawPair = (draws: Draws, count: number, { rate, candidate = rate, gain, fails = [0, 0] }: Pair) => {
  const passes = (share: number) => dependences["beta-binomial"](draws, count, share, correlation);
  const reference = passes(rate);
  const own = gain === undefined ? passes(candidate) : reference + draws.successes(count - reference, gain);
  const unlessFailed = (passed: number, share: number) => (draws.chance(share) ? 0 : passed);
  return {
    count,
    reference: unlessFailed(reference, fails[0]),
    candidate: unlessFailed(own, fails[1]),
  };
};

const truthOf = (pair: Pair): number => {
  if (pair.fails !== undefined) return 0;
  return pair.gain === undefined ? (pair.candidate ?? 0) - pair.rate : (1 - pair.rate) * pair.gain;
};

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

const isRejectedByT = (sums: readonly number[]): boolean => {
  const mean = sumOf(sums) / sums.length;
  const variance = sumOf(sums.map((sum) => (sum - mean) ** 2)) / (sums.length - 1);
  return Math.abs(mean) > tQuantile(1 - level / 2, sums.length - 1) * Math.sqrt(variance / sums.length);
};

const measure = async (
  sets: number,
  trajectories: number,
  lengths: Lengths,
  pair: Pair,
): Promise<ErrorRates> => {
  const draws = createDraws(20261123);
  const truth = truthOf(pair);
  const shares = { flips: 0, worse: 0, survives: 0, tTest: 0 };
  let [covered, intervals] = [0, 0];
  for (let set = 0; set < sets; set++) {
    const drawn = lengths.draw(draws, trajectories).map((count) => drawPair(draws, count, pair));
    const clusters = drawn.map(({ count, reference, candidate }) => ({ count, sum: candidate - reference }));
    const { difference, pValue, interval } = await pairedDifference(clusters, signs, set);
    shares.tTest += Number(isRejectedByT(clusters.map(({ sum }) => sum))) / sets;
    if (pValue !== null && pValue < level) {
      const count = sumOf(drawn.map((one) => one.count));
      const means = {
        reference: sumOf(drawn.map(({ reference }) => reference)) / count,
        candidate: sumOf(drawn.map(({ candidate }) => candidate)) / count,
      };
      shares.flips += 1 / sets;
      shares.worse += Number(difference !== null && difference < 0) / sets;
      shares.survives += Number(await survivesOneFailure(clusters, means, set)) / sets;
    }
    if (interval === null) continue;
    intervals += 1;
    covered += Number(interval.lower <= truth + 1e-9 && truth <= interval.upper + 1e-9);
  }
  return { trajectories, lengths, pair, ...shares, covered: covered / intervals };
};

/** `sets` data sets of runs that are the same, `otherSets` of others. */
export const measureErrorRates = async (sets: number, otherSets: number): Promise<ErrorRates[]> => {
  const all: ErrorRates[] = [];
  for (const pair of [...samePairs, ...betterPairs, ...wholeFailures])
    for (const trajectories of [8, 12, 20, 60])
      for (const lengths of fewLengths)
        all.push(await measure(samePairs.includes(pair) ? sets : otherSets, trajectories, lengths, pair));
  return all;
};
