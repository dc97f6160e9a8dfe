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
