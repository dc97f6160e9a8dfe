import { tQuantile } from "./student-t.ts";
import { wilsonBounds } from "./wilson-interval.ts";

/** The values of one cluster: how many, and their sum. */
export interface ClusterSum {
  count: number;
  sum: number;
}

/**
 * Sums of n values in G clusters: enough for the mean and its interval. A cluster counts here with its number of values and
 * with their sum.
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

/** What rounding may leave of a difference, in relation to the numbers. */
export const rounding = 1e-12;

interface Interval {
  level: number;
  lower: number;
  upper: number;
}

/** The moments of clusters by the number and the sum of their values. */
export function momentsOfClusters(clusters: Iterable<ClusterSum>): ClusteredMoments {
  const moments = { clusters: 0, count: 0, sum: 0, sumSquares: 0, countSums: 0, countSquares: 0 };
  for (const { count, sum } of clusters) {
    moments.clusters += 1;
    moments.count += count;
    moments.sum += sum;
    moments.sumSquares += sum * sum;
    moments.countSums += count * sum;
    moments.countSquares += count * count;
  }
  return moments;
}

/**
 * The standard error of the mean where values of one cluster may depend on each other:
 * SE² = G/(G−1) · Σ_g(Σ_{i∈g}(y_i − ȳ))² / n², the cluster-robust CR1 of a regression on a constant (A. C. Cameron and D. L. Miller,
 * "A Practitioner's Guide to Cluster-Robust Inference", Journal of Human Resources 50 (2015); for evaluations of language models
 * E. Miller, "Adding Error Bars to Evals", arXiv 2411.00640 (2024)). With one value in each cluster it is the ordinary standard error.
 * Null for fewer than two clusters.
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

/** The interval of the mean of scores from 0 to 1, at 95 %: ȳ ± t · SE with G − 1 degrees of freedom. */
export function clusteredMeanInterval(moments: ClusteredMoments): Interval | null {
  const error = clusteredError(moments);
  if (error === null) return null;
  const mean = moments.sum / moments.count;
  const margin = criticalValue(moments) * error;
  return { level: 0.95, lower: Math.max(0, mean - margin), upper: Math.min(1, mean + margin) };
}

/**
 * The interval of a rate, at 95 %: Wilson's with t of G − 1 degrees of freedom, and with as many trials as would give the same
 * standard error if they were independent, at most n. Clusters that do not differ at all count as one trial each.
 */
export function clusteredRateInterval(moments: ClusteredMoments): Interval | null {
  const error = clusteredError(moments);
  if (error === null) return null;
  const { clusters, count, sum } = moments;
  const rate = sum / count;
  const trials = error === 0 ? clusters : Math.min(count, (rate * (1 - rate)) / (error * error));
  return wilsonBounds(rate, trials, criticalValue(moments));
}

function criticalValue({ clusters }: ClusteredMoments): number {
  return tQuantile(0.975, clusters - 1);
}
