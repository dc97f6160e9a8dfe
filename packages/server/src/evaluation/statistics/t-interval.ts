import { tQuantile } from "./student-t.ts";

/** Sums of some values: enough for their mean and its interval. */
export interface Moments {
  count: number;
  sum: number;
  sumOfSquares: number;
}

/** Student's t interval of the mean, at 95 %. A single value has none: it does not show how far values spread. */
export function tInterval({
  count,
  sum,
  sumOfSquares,
}: Moments): { level: number; lower: number; upper: number } | null {
  if (count < 2) return null;
  const mean = sum / count;
  // Rounding can make the variance of equal values slightly negative.
  const variance = Math.max(0, (sumOfSquares - sum * mean) / (count - 1));
  const margin = tQuantile(0.975, count - 1) * Math.sqrt(variance / count);
  return { level: 0.95, lower: mean - margin, upper: mean + margin };
}
