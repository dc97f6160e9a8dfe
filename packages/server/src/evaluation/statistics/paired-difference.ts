import { type ClusterSum, rounding } from "./clustered-interval.ts";
import { tQuantile, tTwoSided } from "./student-t.ts";

export interface PairedDifference {
  /** Candidate − reference, the mean over all samples. Null without samples. */
  difference: number | null;
  /** Null for fewer than two clusters. */
  pValue: number | null;
  /** Null for fewer than two clusters, and if it is unbounded or so few clusters differ alike that no θ is rejected. */
  interval: { level: number; lower: number; upper: number } | null;
}

/**
 * The mean difference of two runs on the same samples. `clusters` has, for each cluster g, the number n_g of its samples and
 * the sum D_g of their differences.
 *
 * The p-value is that of the t test of the D_g with G − 1 degrees of freedom (Student 1908; pairing and clusters as in E.
 * Miller, "Adding Error Bars to Evals", arXiv 2411.00640 (2024)). The interval, at 95 %, has every θ that this test does not
 * reject on D_g − θ · n_g, so it contains 0 exactly if the p-value is over 0.05 (E. C. Fieller, "Some Problems in Interval
 * Estimation", Journal of the Royal Statistical Society B 16 (1954)). It is not clipped. If all D_g, or all means
 * D_g / n_g, are equal, t says nothing of chance: the p-value is that of flipped signs, 2^(1 − G), or 1 where all are 0.
 */
export function pairedDifference(clusters: readonly ClusterSum[]): PairedDifference {
  const sizes = clusters.map(({ count }) => count);
  const count = total(sizes);
  if (count === 0) return { difference: null, pValue: null, interval: null };
  // What sums of differences leave of zero is rounding.
  const sums = clusters.map((one) => (Math.abs(one.sum) <= rounding * one.count ? 0 : one.sum));
  const difference = total(sums) / count;
  if (clusters.length < 2) return { difference, pValue: null, interval: null };
  const areAlike = haveOneValue(sums) || haveOneValue(sums.map((sum, index) => sum / (sizes[index] ?? 1)));
  const pValue = areAlike && difference !== 0 ? leastP(clusters.length) : pValueOf(sums);
  const interval =
    areAlike && leastP(clusters.length) > 0.05 ? null : fiellerInterval(sums, sizes, difference);
  return { difference, pValue, interval };
}

function pValueOf(sums: readonly number[]): number {
  const clusters = sums.length;
  const mean = total(sums) / clusters;
  if (mean === 0) return 1;
  const deviations = total(sums.map((sum) => (sum - mean) ** 2));
  return tTwoSided(mean / Math.sqrt(deviations / (clusters - 1) / clusters), clusters - 1);
}

/** The p-value of clusters that all differ the same way, by flipped signs. */
function leastP(clusters: number): number {
  return 2 ** (1 - clusters);
}

function haveOneValue(values: readonly number[]): boolean {
  const mean = total(values) / values.length;
  return values.every((value) => Math.abs(value - mean) <= rounding * Math.abs(mean));
}

/**
 * With θ = difference + δ and e_g = D_g − difference · n_g, whose sum is 0, the test does not reject if (n δ)² ≤ t² ·
 * G/(G−1) · Σ(e_g − δ (n_g − n̄))², a quadratic in δ.
 */
function fiellerInterval(
  sums: readonly number[],
  sizes: readonly number[],
  difference: number,
): PairedDifference["interval"] {
  const clusters = sums.length;
  const count = total(sizes);
  const factor = (tQuantile(0.975, clusters - 1) ** 2 * clusters) / (clusters - 1);
  const residuals = sums.map((sum, index) => sum - difference * (sizes[index] ?? 0));
  const offsets = sizes.map((size) => size - count / clusters);
  const square = count ** 2 - factor * total(offsets.map((offset) => offset * offset));
  if (square <= 0) return null;
  const linear = factor * total(residuals.map((residual, index) => residual * (offsets[index] ?? 0)));
  const constant = factor * total(residuals.map((residual) => residual * residual));
  const root = Math.sqrt(linear ** 2 + square * constant);
  return {
    level: 0.95,
    lower: difference - (linear + root) / square,
    upper: difference + (root - linear) / square,
  };
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
