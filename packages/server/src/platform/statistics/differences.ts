import { setImmediate as nextTurn } from "node:timers/promises";
import { mersenne } from "pure-rand/generator/mersenne";
import { type ClusterSum, type Interval, jackknifeError, rounding, tQuantile } from "./intervals.ts";

/** What data like these could have shown. Both are null for fewer than two clusters, and where the standard error is 0. */
interface DetectableDifference {
  /** The smallest true difference of means that a test at 5 % finds in 80 % of such data sets. */
  minDetectable: number | null;
  /** How many such clusters (trajectories) it takes to find a difference of 0.01 as often. */
  trajectoriesFor1Point: number | null;
}

/**
 * The smallest detectable difference, (t_.975 + t_.80) · SE with G − 1 degrees of freedom, from the differences of two runs
 * by cluster (H. S. Bloom, "Minimum Detectable Effects", Evaluation Review 19 (1995)), and the number of clusters that makes
 * it 0.01: G · (min_detectable / 0.01)², rounded up and at least 2. That number uses the t of this G, so it is too low far
 * below G.
 */
export function detectableDifference(clusters: readonly ClusterSum[]): DetectableDifference {
  const error = jackknifeError(clusters);
  if (error === null || error === 0) return { minDetectable: null, trajectoriesFor1Point: null };
  const degrees = clusters.length - 1;
  const minDetectable = (tQuantile(0.975, degrees) + tQuantile(0.8, degrees)) * error;
  const needed = Math.ceil(clusters.length * (minDetectable / 0.01) ** 2);
  return { minDetectable, trajectoriesFor1Point: Math.max(2, needed) };
}

/**
 * Holm's adjusted p-values: with the m values in ascending order, max over j ≤ i of (m − j + 1) · p_j, at most 1 (S. Holm,
 * "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6 (1979)). Where nothing was
 * tested, null stays null and does not count.
 */
export function holm(pValues: readonly (number | null)[]): (number | null)[] {
  const tested = pValues.flatMap((p, index) => (p === null ? [] : [{ p, index }])).sort((a, b) => a.p - b.p);
  const adjusted: (number | null)[] = pValues.map(() => null);
  let greatest = 0;
  for (const [rank, { p, index }] of tested.entries()) {
    greatest = Math.max(greatest, Math.min(1, (tested.length - rank) * p));
    adjusted[index] = greatest;
  }
  return adjusted;
}

interface PairedDifference {
  /** Candidate − reference, the mean over all samples. Null without samples. */
  difference: number | null;
  /** Null without clusters. */
  pValue: number | null;
  /** Null for fewer than six clusters, which cannot reject anything, and if all clusters differ by the same amount. */
  interval: Interval | null;
}

/** Which sign vectors are tried: all of them for up to `mostClusters`, otherwise the identity and `sampled` random ones. */
interface SignVectors {
  mostClusters: number;
  sampled: number;
}

export const overallSigns: SignVectors = { mostClusters: 20, sampled: 10_000 };
/** There may be a thousand strata. */
export const strataSigns: SignVectors = { mostClusters: 12, sampled: 999 };
/** With fewer, no signs have a p-value under 0.05. */
export const fewestClusters = 6;

/** The level of the test. */
export const level = 0.05;
/** Signs that one table covers: a byte of a word. */
const tableBits = 8;
const tableLength = 2 ** tableBits;
/** Entries of the tables that a 32-bit word chooses from. */
const entriesOfWord = 4 * tableLength;
/** Tables looked up before other work gets a turn: a few milliseconds. */
const workAtOnce = 1_000_000;

/**
 * The mean difference of two runs on the same samples. `clusters` has, for each cluster g, the number n_g of its samples and the sum
 * D_g of their differences. If the runs are interchangeable, each D_g is as likely to have the other sign.
 *
 * The p-value is the share of sign vectors w with |Σ w_g D_g| ≥ |Σ D_g| (R. A. Fisher, "The Design of Experiments", 1935, section
 * 21; for random vectors B. Phipson and G. K. Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010)). The
 * interval, at 95 %, contains every θ which that test does not reject on D_g − θ · n_g, within −1 and 1: the wild cluster bootstrap with
 * the null imposed (A. C. Cameron, J. B. Gelbach and D. L. Miller, Review of Economics and Statistics 90 (2008)). It contains 0
 * exactly if the p-value is over 0.05. Sums within 1e-12 of each other, or of Σ|D_g| where that is more than 1, are ties.
 *
 * The work is about 2,500 additions a cluster, and up to a million for 20 clusters.
 */
export async function pairedDifference(
  clusters: readonly ClusterSum[],
  vectors: SignVectors,
  seed: number,
): Promise<PairedDifference> {
  const count = total(clusters.map((one) => one.count));
  if (count === 0) return { difference: null, pValue: null, interval: null };
  const { pValue, lower, upper } = await flipSigns(clusters, vectors, seed);
  const hasInterval = clusters.length >= fewestClusters && !areAlike(clusters);
  return {
    difference: total(clusters.map(differenceOf)) / count,
    pValue,
    interval: hasInterval
      ? { level: 1 - level, lower: Math.max(-1, lower), upper: Math.min(1, upper) }
      : null,
  };
}

/**
 * Whether the difference keeps its sign and a p-value under 0.05 with one more cluster, of the mean length, in which the better run
 * scores 0 and the other one its mean of all samples.
 */
export async function survivesOneFailure(
  clusters: readonly ClusterSum[],
  means: { reference: number; candidate: number },
  seed: number,
): Promise<boolean> {
  const sum = total(clusters.map(differenceOf));
  const count = total(clusters.map((one) => one.count)) / clusters.length;
  const failure = { count, sum: count * (sum > 0 ? -means.reference : means.candidate) };
  const { difference, pValue } = await pairedDifference([...clusters, failure], overallSigns, seed);
  return Math.sign(difference ?? 0) === Math.sign(sum) && (pValue ?? 1) < level;
}

/** Whether all clusters have the same mean difference, which does not show how far others would differ. */
export function areAlike(clusters: readonly ClusterSum[]): boolean {
  const means = clusters.map((one) => differenceOf(one) / one.count);
  const [first = 0] = means;
  return means.every((mean) => Math.abs(mean - first) <= rounding * Math.abs(first));
}

/** A cluster's sum of differences, with rounding errors taken as 0. */
export function differenceOf({ count, sum }: ClusterSum): number {
  return Math.abs(sum) <= rounding * count ? 0 : sum;
}

/**
 * Each sign vector w, with A = Σ w D, B = Σ w n and S = Σ D, keeps the θ from (S − A)/(n − B) to (S + A)/(n + B); w and −w keep the
 * same, so of all vectors half are tried.
 */
async function flipSigns(
  clusters: readonly ClusterSum[],
  { mostClusters, sampled }: SignVectors,
  seed: number,
): Promise<{ pValue: number; lower: number; upper: number }> {
  const isExact = clusters.length <= mostClusters;
  const vectors = isExact ? 2 ** (clusters.length - 1) : sampled + 1;
  const random = mersenne(seed);
  const flips = createFlips(clusters, vectors, isExact ? (vector) => vector : () => random.next());
  const vectorsAtOnce = Math.ceil((workAtOnce * tableBits) / clusters.length);
  // The first vector is the identity, which keeps every θ.
  let reached = 1;
  for (let from = 1; from < vectors; from += vectorsAtOnce) {
    reached += flips.tryVectors(from, Math.min(vectors, from + vectorsAtOnce));
    await nextTurn();
  }
  // θ is rejected if at most this many vectors keep it. Of all vectors, only half are tried; their opposites keep the same.
  const rejected = isExact ? Math.floor(level * 2 ** clusters.length) >> 1 : Math.floor(level * vectors);
  const lower = flips.lowerEnds.sort()[rejected] ?? Number.NEGATIVE_INFINITY;
  await nextTurn();
  const upper = flips.upperEnds.sort()[vectors - 1 - rejected] ?? Number.POSITIVE_INFINITY;
  return { pValue: reached / vectors, lower, upper };
}

/**
 * The signs of a vector are the bits of its words, the lowest first; 1 is plus. Counted vectors fit into one word, and have the last
 * sign minus.
 */
function createFlips(clusters: readonly ClusterSum[], vectors: number, wordOf: (vector: number) => number) {
  const differences = clusters.map(differenceOf);
  const sizes = clusters.map((one) => one.count);
  const [sum, count] = [total(differences), total(sizes)];
  const tie = rounding * Math.max(1, total(differences.map(Math.abs)));
  const withoutRounding = (value: number) => (Math.abs(value) <= tie ? 0 : value);
  const differenceSums = signedSums(differences);
  const sizeSums = signedSums(sizes);
  const lowerEnds = new Float64Array(vectors).fill(Number.NEGATIVE_INFINITY);
  const upperEnds = new Float64Array(vectors).fill(Number.POSITIVE_INFINITY);
  return {
    lowerEnds,
    upperEnds,
    /** Notes what these vectors keep, and counts those in which the runs differ at least as much. */
    tryVectors(from: number, to: number): number {
      let reached = 0;
      for (let vector = from; vector < to; vector++) {
        let word = 0;
        let flipped = 0;
        let flippedCount = 0;
        for (let start = 0; start < sizeSums.length; start += tableLength) {
          if (start % entriesOfWord === 0) word = wordOf(vector);
          const at = start + (word & (tableLength - 1));
          flipped += differenceSums[at] ?? 0;
          flippedCount += sizeSums[at] ?? 0;
          word >>>= tableBits;
        }
        if (Math.abs(flipped) >= Math.abs(sum) - tie) reached += 1;
        if (Math.abs(flippedCount) === count) continue;
        const one = withoutRounding(sum - flipped) / (count - flippedCount);
        const other = withoutRounding(sum + flipped) / (count + flippedCount);
        lowerEnds[vector] = Math.min(one, other);
        upperEnds[vector] = Math.max(one, other);
      }
      return reached;
    },
  };
}

/**
 * The sums of these values under all signs, a table for each eight of them, one after the other: bit i is 1 if value i is added, 0
 * if it is subtracted.
 */
function signedSums(values: readonly number[]): Float64Array {
  const sums = new Float64Array(Math.ceil(values.length / tableBits) * tableLength);
  for (let start = 0, first = 0; start < sums.length; start += tableLength, first += tableBits) {
    const some = values.slice(first, first + tableBits);
    sums[start] = -total(some);
    for (let bit = 0; bit < tableBits; bit++) {
      const added = 2 * (some[bit] ?? 0);
      const flipped = start + 2 ** bit;
      for (let at = start; at < flipped; at++) sums[at + 2 ** bit] = (sums[at] ?? 0) + added;
    }
  }
  return sums;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
