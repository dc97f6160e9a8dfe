import { tQuantile } from "./student-t.ts";
import { wilsonBounds } from "./wilson-interval.ts";

/** The values of one cluster: how many, and their sum. */
export interface ClusterSum {
  count: number;
  sum: number;
}

/**
 * Sums of n values in G clusters: enough for the mean and, with a standard error, its interval. A cluster counts here with its
 * number of values and with their sum.
 */
export interface ClusteredMoments {
  /** G. */
  clusters: number;
  /** n. */
  count: number;
  sum: number;
  /** Σ sum², over clusters. */
  sumSquares: number;
  /** Σ count · sum. */
  countSums: number;
  /** Σ count². */
  countSquares: number;
}

export const noMoments: Readonly<ClusteredMoments> = {
  ...{ clusters: 0, count: 0, sum: 0 },
  ...{ sumSquares: 0, countSums: 0, countSquares: 0 },
};

/** What rounding may leave of a difference, in relation to the numbers. */
export const rounding = 1e-12;
/** What rounding may leave of a cluster's mean less the mean of all, after sums of a million values. */
const roundingOfMeans = 1e-9;
/** The part of a cluster that passes or fails as a whole which every rate allows for. */
const wholeClusters = 0.2;

interface Interval {
  level: number;
  lower: number;
  upper: number;
}

/** The moments of clusters by the number and the sum of their values. */
export function momentsOfClusters(clusters: Iterable<ClusterSum>): ClusteredMoments {
  const moments = { ...noMoments };
  for (const { count, sum } of clusters) addCluster(moments, count, sum);
  return moments;
}

export function addCluster(moments: ClusteredMoments, count: number, sum: number): void {
  moments.clusters += 1;
  moments.count += count;
  moments.sum += sum;
  moments.sumSquares += sum * sum;
  moments.countSums += count * sum;
  moments.countSquares += count * count;
}

/**
 * The standard error of the mean where values of one cluster may depend on each other, by leaving out one cluster at a time:
 * SE² = (G−1)/G · Σ_g e_g² / (n − n_g)² with e_g = Σ_{i∈g}(y_i − ȳ), the jackknife or CR3 (R. M. Bell and D. F. McCaffrey, Survey
 * Methodology 28 (2002); J. G. MacKinnon, M. Ø. Nielsen and M. D. Webb, Journal of Applied Econometrics 38 (2023)). Null for fewer
 * than two clusters.
 */
export function jackknifeError(clusters: readonly ClusterSum[]): number | null {
  const moments = momentsOfClusters(clusters);
  const squares = clusters.reduce((sum, one) => sum + leftOutSquare(moments, one.count, one.sum), 0);
  return jackknifeErrorOf(moments.clusters, squares);
}

/** What a cluster adds to the jackknife: the square of the change of the mean without it. */
export function leftOutSquare(
  all: Pick<ClusteredMoments, "count" | "sum">,
  count: number,
  sum: number,
): number {
  const deviation = sum - (all.sum / all.count) * count;
  if (Math.abs(deviation) <= roundingOfMeans * count) return 0;
  return (deviation / (all.count - count)) ** 2;
}

/** The jackknife's standard error from the sum of `leftOutSquare`. */
export function jackknifeErrorOf(clusters: number, squares: number): number | null {
  return clusters < 2 ? null : Math.sqrt(((clusters - 1) / clusters) * squares);
}

/**
 * The standard error where only the moments are known: SE² = G/(G−1) · Σ_g e_g² / n², the CR1 of a regression on a constant (A. C.
 * Cameron and D. L. Miller, Journal of Human Resources 50 (2015)). Of clusters of one size it is the jackknife's, of unlike ones
 * lower. Null for fewer than two clusters.
 */
export function clusteredError(moments: ClusteredMoments): number | null {
  const { clusters, count, sum, sumSquares, countSums, countSquares } = moments;
  if (clusters < 2) return null;
  const mean = sum / count;
  const expected = mean * mean * countSquares;
  const deviations = sumSquares - 2 * mean * countSums + expected;
  // Where clusters do not differ, only rounding is left of it.
  if (deviations <= rounding * (sumSquares + expected)) return 0;
  return Math.sqrt((clusters / (clusters - 1)) * deviations) / count;
}

/** The number of equally large clusters that would carry as much information: n² / Σ n_g² (L. Kish, "Survey Sampling", 1965). */
export function effectiveClusters({ count, countSquares }: ClusteredMoments): number {
  return (count * count) / countSquares;
}

/**
 * The interval of a rate, at 95 %: Wilson's with t of G* − 1 degrees of freedom, and with n divided by the design effect. That is as
 * measured by the standard error if the rarer verdict comes from many clusters; if from few, clusters that pass or fail as a whole
 * may be unseen, and a fifth of one is assumed. `docs/statistics.md` has the formula and how it covers.
 */
export function rateInterval(moments: ClusteredMoments, error: number | null): Interval | null {
  if (error === null) return null;
  const { count, sum, sumSquares, countSums, countSquares } = moments;
  const rate = sum / count;
  const effective = effectiveClusters(moments);
  const isRare = rate < 0.5 - rounding;
  const rarer = isRare ? sum : count - sum;
  const rarerSquares = isRare ? sumSquares : countSquares - 2 * countSums + sumSquares;
  const seenIn = rarer === 0 ? 0 : (rarer * rarer) / rarerSquares;
  const seen = rarer === 0 ? 0 : (count * error * error) / (rate * (1 - rate));
  const assumed = (wholeClusters * count) / effective;
  const designEffect = Math.max(1, (seenIn * seen + assumed) / (seenIn + wholeClusters));
  return wilsonBounds(rate, count / designEffect, criticalValue(effective));
}

/**
 * The interval of the mean of scores from 0 to 1, at 95 %: Wilson's with t of G* − 1 degrees of freedom, and with as many trials as
 * would give the standard error if they were independent and 0 or 1; G* if the clusters do not differ.
 */
export function scoreInterval(moments: ClusteredMoments, error: number | null): Interval | null {
  if (error === null) return null;
  const mean = Math.min(1, moments.sum / moments.count);
  const effective = effectiveClusters(moments);
  const trials = error === 0 ? effective : (mean * (1 - mean)) / (error * error);
  return wilsonBounds(mean, trials, criticalValue(effective));
}

function criticalValue(effective: number): number {
  return tQuantile(0.975, effective - 1);
}
