/** How often each value is there, by ascending value. */
export type Histogram = readonly (readonly [value: number, count: number])[];

export function toHistogram(entries: Iterable<readonly [value: number, count: number]>): Histogram {
  const counts = new Map<number, number>();
  for (const [value, count] of entries) counts.set(value, (counts.get(value) ?? 0) + count);
  return [...counts].filter(([, count]) => count > 0).sort(([a], [b]) => a - b);
}

export function totalOf(histogram: Histogram): number {
  return histogram.reduce((total, [, count]) => total + count, 0);
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

/** The smallest value that at least this share of all does not exceed: the nearest rank. */
export function quantile(histogram: Histogram, share: number): number | null {
  // A share of 0.1 of 10 must be 1, not 1.0000000000000002 rounded up.
  const rank = Math.ceil(Number((share * totalOf(histogram)).toPrecision(12)));
  return atRank(histogram, Math.max(rank, 1));
}
