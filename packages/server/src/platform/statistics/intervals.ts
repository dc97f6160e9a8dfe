import type { LabelAgreement } from "@presage/contract";
import { wholePercent } from "../words.ts";

/** The library of distributions, 10 MB in memory, loaded on first use. */
function distributionsLibrary(): typeof import("cephes") {
  return require("cephes");
}

/** Below this, cephes' beta integral underflows, and any interval spans its whole range anyway. */
const fewestDegrees = 0.01;

/**
 * The quantile of Student's t distribution for a probability over ½. The degrees of freedom may be a fraction, which cephes' own
 * `stdtri` truncates, so it is computed from the inverse of the incomplete beta integral (S. L. Moshier, "Methods and Programs for
 * Mathematical Functions", 1989). Within 4e-10 of scipy's figures up to a million degrees of freedom.
 */
export function tQuantile(probability: number, degreesOfFreedom: number): number {
  if (degreesOfFreedom < fewestDegrees) return Number.POSITIVE_INFINITY;
  const x = distributionsLibrary().incbi(degreesOfFreedom / 2, 0.5, 2 * (1 - probability));
  return Math.sqrt((degreesOfFreedom * (1 - x)) / x);
}

/** The probability of a t at least as far from 0, with degrees of freedom that may be a fraction. */
export function tProbability(t: number, degreesOfFreedom: number): number {
  if (degreesOfFreedom < fewestDegrees) return 1;
  return distributionsLibrary().incbet(
    degreesOfFreedom / 2,
    0.5,
    degreesOfFreedom / (degreesOfFreedom + t * t),
  );
}

/** 95 % of the standard normal distribution lies between minus and plus this. */
export const z95 = 1.959963984540054;

/** Wilson's score interval of a proportion (1927), at 95 %. */
export function wilsonInterval(successes: number, trials: number): Interval | null {
  return trials === 0 ? null : wilsonBounds(successes / trials, trials, z95);
}

/** Wilson's interval at 95 % of a rate in this many trials (possibly a fraction), with this critical value. */
export function wilsonBounds(rate: number, trials: number, critical: number): Interval {
  const half = (critical * critical) / (2 * trials);
  const margin = critical * Math.sqrt((rate * (1 - rate)) / trials + (critical / (2 * trials)) ** 2);
  // Uses the product of the equation's two roots: their difference may be rounded to less than 0 or more than 1.
  const lower = rate ** 2 / (rate + half + margin);
  const upper = 1 - (1 - rate) ** 2 / (1 - rate + half + margin);
  return { level: 0.95, lower, upper };
}

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
  clusters: 0,
  count: 0,
  sum: 0,
  sumSquares: 0,
  countSums: 0,
  countSquares: 0,
};

/** The most that rounding leaves of a difference, relative to the numbers. */
export const rounding = 1e-12;
/** The most that rounding leaves of a cluster's mean minus the mean of all, after sums of a million values. */
const roundingOfMeans = 1e-9;
/** Every rate allows for this part of a cluster that passes or fails as a whole. */
const wholeClusters = 0.2;

/** A figure of things in trajectories, where those of one trajectory depend on each other. */
export type ClusteredFigure = LabelAgreement["agreement"];
export type Interval = NonNullable<ClusteredFigure["interval"]>;

/** The moments of clusters by the number and the sum of their values. */
export function momentsOfClusters(clusters: Iterable<ClusterSum>): ClusteredMoments {
  const moments = { ...noMoments };
  for (const { count, sum } of clusters) addCluster(moments, count, sum);
  return moments;
}

/** Adds a cluster to moments; with a negative `times`, takes it out. */
export function addCluster(moments: ClusteredMoments, count: number, sum: number, times: 1 | -1 = 1): void {
  moments.clusters += times;
  moments.count += times * count;
  moments.sum += times * sum;
  moments.sumSquares += times * sum * sum;
  moments.countSums += times * count * sum;
  moments.countSquares += times * count * count;
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
function leftOutSquare(all: Pick<ClusteredMoments, "count" | "sum">, count: number, sum: number): number {
  const deviation = sum - (all.sum / all.count) * count;
  if (Math.abs(deviation) <= roundingOfMeans * count) return 0;
  return (deviation / (all.count - count)) ** 2;
}

/** The jackknife's standard error from the sum of `leftOutSquare`. */
function jackknifeErrorOf(clusters: number, squares: number): number | null {
  return clusters < 2 ? null : Math.sqrt(((clusters - 1) / clusters) * squares);
}

/**
 * The standard error where only the moments are known: SE² = G/(G−1) · Σ_g e_g² / n², the CR1 of a regression on a constant (A. C.
 * Cameron and D. L. Miller, Journal of Human Resources 50 (2015)). For clusters of equal size it equals the jackknife's, for unequal ones
 * it is lower. Null for fewer than two clusters.
 */
export function clusteredError(moments: ClusteredMoments): number | null {
  const { clusters, count, sum, sumSquares, countSums, countSquares } = moments;
  if (clusters < 2) return null;
  const mean = sum / count;
  const expected = mean * mean * countSquares;
  const deviations = sumSquares - 2 * mean * countSums + expected;
  // Where clusters do not differ, only rounding errors are left.
  if (deviations <= rounding * (sumSquares + expected)) return 0;
  return Math.sqrt((clusters / (clusters - 1)) * deviations) / count;
}

/** The number of equally large clusters that would carry as much information: n² / Σ n_g² (L. Kish, "Survey Sampling", 1965). */
export function effectiveClusters({ count, countSquares }: ClusteredMoments): number {
  return (count * count) / countSquares;
}

/**
 * The interval of a rate, at 95 %: Wilson's with t of G* − 1 degrees of freedom, of `effectiveTrials`. `docs/statistics.md` has the
 * formula and its coverage.
 */
export function rateInterval(moments: ClusteredMoments, error: number | null): Interval | null {
  if (error === null) return null;
  const critical = criticalValue(effectiveClusters(moments));
  return wilsonBounds(moments.sum / moments.count, effectiveTrials(moments, error), critical);
}

/**
 * The number of independent verdicts that would say as much about a rate: n divided by the design effect. The effect is measured by
 * the standard error if the rarer verdict comes from many clusters; if from few, clusters that pass or fail as a whole may be unseen,
 * and a fifth of one is assumed.
 */
export function effectiveTrials(moments: ClusteredMoments, error: number): number {
  const { count, sum, sumSquares, countSums, countSquares } = moments;
  const rate = sum / count;
  const isRare = rate < 0.5 - rounding;
  const rarer = isRare ? sum : count - sum;
  const rarerSquares = isRare ? sumSquares : countSquares - 2 * countSums + sumSquares;
  const seenIn = rarer === 0 ? 0 : (rarer * rarer) / rarerSquares;
  const seen = rarer === 0 ? 0 : (count * error * error) / (rate * (1 - rate));
  const assumed = (wholeClusters * count) / effectiveClusters(moments);
  return count / Math.max(1, (seenIn * seen + assumed) / (seenIn + wholeClusters));
}

/**
 * The interval of the mean of scores from 0 to 1, at 95 %: Wilson's with t of G* − 1 degrees of freedom, and with as many trials as
 * would give the standard error if they were independent and 0 or 1; G* if the clusters do not differ.
 */
export function scoreInterval(moments: ClusteredMoments, error: number | null): Interval | null {
  if (error === null) return null;
  return meanInterval(Math.min(1, moments.sum / moments.count), error, effectiveClusters(moments));
}

/** Like `scoreInterval`, for any figure from 0 to 1 with this standard error and this number of effective clusters. */
function meanInterval(mean: number, error: number, effective: number): Interval {
  const trials = error === 0 ? effective : (mean * (1 - mean)) / (error * error);
  return wilsonBounds(mean, trials, criticalValue(effective));
}

/** The jackknife's standard error of any figure, from its values without each cluster; `times` has the number of clusters of each value. */
export function leaveOneOutError(without: Float64Array, times?: ArrayLike<number>): number {
  const timesOf = (index: number) => times?.[index] ?? 1;
  const count = without.reduce((sum, _, index) => sum + timesOf(index), 0);
  const mean = without.reduce((sum, one, index) => sum + timesOf(index) * one, 0) / count;
  const squares = without.reduce((sum, one, index) => sum + timesOf(index) * (one - mean) ** 2, 0);
  return Math.sqrt(((count - 1) / count) * squares);
}

/** With fewer clusters, a figure that is not a mean has no interval. */
const fewestForJackknife = 6;
export const whyNoInterval = {
  few: "There is no interval with fewer than 6 trajectories.",
  undefined: "There is no interval: without one of the trajectories, the figure is not defined.",
};

/**
 * The interval of a figure from 0 to 1, at 95 %, from its values without each cluster: SE² = (G−1)/G · Σ_g(θ_(−g) − θ_(·))² (B. Efron
 * and R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 11), in the form of `scoreInterval`. Clusters may have been
 * merged. `why` tells why there is none: too few values, or one that is undefined (NaN) without its cluster. A figure whose lowest value is
 * −1 has its interval as ± t · SE, within its range.
 */
export function jackknifeInterval(
  value: number,
  without: Float64Array,
  effective: number,
  lowest: 0 | -1 = 0,
): { interval: Interval; why: null } | { interval: null; why: keyof typeof whyNoInterval } {
  if (without.length < fewestForJackknife) return { interval: null, why: "few" };
  if (without.some(Number.isNaN)) return { interval: null, why: "undefined" };
  const error = leaveOneOutError(without);
  if (lowest === 0 && error < rounding) return { interval: meanInterval(value, 0, effective), why: null };
  if (lowest === 0 && value > rounding && value < 1 - rounding)
    return { interval: meanInterval(value, error, effective), why: null };
  // Unlike a mean, a calibration error may be at an end of its range and still vary.
  const reach = error === 0 ? 0 : criticalValue(effective) * error;
  const [lower, upper] = [Math.max(lowest, value - reach), Math.min(1, value + reach)];
  return { interval: { level: 0.95, lower, upper }, why: null };
}

export function criticalValue(effective: number): number {
  return tQuantile(0.975, effective - 1);
}

/** How often each value occurs, by ascending value. */
export type Histogram = readonly (readonly [value: number, count: number])[];

export function toHistogram(entries: Iterable<readonly [value: number, count: number]>): Histogram {
  const counts = new Map<number, number>();
  for (const [value, count] of entries) counts.set(value, (counts.get(value) ?? 0) + count);
  return [...counts].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
}

/**
 * The median and its distribution-free interval at 95 %, from the values of two ranks (Campbell and Gardner 1988). With fewer
 * than six values there is no such interval.
 */
export function medianInterval(histogram: Histogram): {
  lower: number | null;
  median: number | null;
  upper: number | null;
} {
  const count = histogram.reduce((total, [, count]) => total + count, 0);
  const reach = (z95 * Math.sqrt(count)) / 2;
  const lowerRank = Math.round(count / 2 - reach);
  const upperRank = Math.round(1 + count / 2 + reach);
  const isLongEnough = lowerRank >= 1;
  return {
    lower: isLongEnough ? atRank(histogram, lowerRank) : null,
    median: medianOf(histogram, count),
    upper: isLongEnough ? atRank(histogram, upperRank) : null,
  };
}

function medianOf(histogram: Histogram, count: number): number | null {
  const below = atRank(histogram, Math.ceil(count / 2));
  const above = atRank(histogram, Math.floor(count / 2) + 1);
  return below === null || above === null ? null : (below + above) / 2;
}

/** The value of this rank, counted from 1. */
export function atRank(histogram: Histogram, rank: number): number | null {
  let passed = 0;
  for (const [value, count] of histogram) {
    passed += count;
    if (passed >= rank) return value;
  }
  return null;
}

/** The sums behind the mean of a group's values, its standard error and its intervals. */
export interface GroupSums extends ClusteredMoments {
  /** The jackknife's standard error. Null for fewer than two clusters. */
  error: number | null;
  /** The number of values in the largest cluster. */
  largest: number;
}

/** Collects values by group and cluster; those of a group's cluster follow one another. */
export function createClusterSums(groups: number) {
  const current = new Int32Array(groups).fill(-1);
  const openCount = new Float64Array(groups);
  const openSum = new Float64Array(groups);
  // The jackknife needs each cluster once the sums of all are known. There may be a million.
  const ended: { groups: number[]; counts: number[]; sums: number[] } = { groups: [], counts: [], sums: [] };

  function endCluster(group: number): void {
    if (openCount[group] === 0) return;
    ended.groups.push(group);
    ended.counts.push(openCount[group] ?? 0);
    ended.sums.push(openSum[group] ?? 0);
    openCount[group] = 0;
    openSum[group] = 0;
  }

  return {
    add(group: number, cluster: number, value: number): void {
      if (current[group] !== cluster) endCluster(group);
      current[group] = cluster;
      openCount[group] = (openCount[group] ?? 0) + 1;
      openSum[group] = (openSum[group] ?? 0) + value;
    },
    /** The sums by the number of each group that has values, once all are added. */
    end(): ReadonlyMap<number, GroupSums> {
      for (let group = 0; group < groups; group++) endCluster(group);
      const found = new Map<number, GroupSums & { squares: number }>();
      for (let index = 0; index < ended.groups.length; index++) {
        const group = ended.groups[index] ?? 0;
        const sums = found.get(group) ?? { ...noMoments, error: null, largest: 0, squares: 0 };
        found.set(group, sums);
        const count = ended.counts[index] ?? 0;
        addCluster(sums, count, ended.sums[index] ?? 0);
        sums.largest = Math.max(sums.largest, count);
      }
      for (let index = 0; index < ended.groups.length; index++) {
        const sums = found.get(ended.groups[index] ?? 0);
        if (sums) sums.squares += leftOutSquare(sums, ended.counts[index] ?? 0, ended.sums[index] ?? 0);
      }
      for (const sums of found.values()) sums.error = jackknifeErrorOf(sums.clusters, sums.squares);
      return found;
    },
  };
}

/** A warning where clusters are too few or too unequal in size. Null from 60 clusters on. */
export function noteOn(sums: GroupSums): string | null {
  const { clusters, count, largest } = sums;
  if (clusters === 0) return null;
  if (clusters === 1) return "One trajectory only: there is no interval.";
  if (effectiveClusters(sums) < 2) {
    return `One trajectory has ${wholePercent(largest / count)} of the samples: the figure is mostly about it.`;
  }
  if (clusters >= manyTrajectories) return null;
  return `With only ${clusters} trajectories, chance may have left out a kind that makes up ${wholePercent(unseenShare(clusters))} of all.`;
}

const manyTrajectories = 60;

/** The share of all clusters that a kind can have and still be missing from a sample of this size with a probability of 5 %. */
export function unseenShare(clusters: number): number {
  return 1 - 0.05 ** (1 / clusters);
}
