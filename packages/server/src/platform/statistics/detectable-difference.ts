import { type ClusterSum, jackknifeError } from "./clustered-interval.ts";
import { tQuantile } from "./student-t.ts";

/** What data like these could have shown. Both are null for fewer than two clusters, and where the standard error is 0. */
export interface DetectableDifference {
  /** The smallest true difference of means that a test at 5 % finds in 80 % of such data sets. */
  minDetectable: number | null;
  /** How many such clusters (trajectories) it takes to find a difference of 0.01 as often. */
  trajectoriesFor1Point: number | null;
}

/**
 * The smallest detectable difference, (t_.975 + t_.80) · SE with G − 1 degrees of freedom, from the differences of two runs
 * by cluster (H. S. Bloom, "Minimum Detectable Effects", Evaluation Review 19 (1995)), and the number of clusters that makes
 * it 0.01: G · (min_detectable / 0.01)², rounded up and at least 2. That number takes the t of this G, so it is too low far
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
