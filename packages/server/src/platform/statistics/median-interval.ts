import { z95 } from "./wilson-interval.ts";

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
  const count = totalOf(histogram);
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

function totalOf(histogram: Histogram): number {
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
