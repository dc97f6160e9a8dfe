import { atRank, type Histogram, totalOf } from "./histogram.ts";
import { z95 } from "./wilson-interval.ts";

/**
 * The median and its distribution-free interval at 95 %, from the values of two ranks (Campbell and Gardner 1988). Below
 * six values there is no such interval.
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
