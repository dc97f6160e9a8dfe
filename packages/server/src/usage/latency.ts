import type { Latency } from "@presage/contract";

/** The ratio of neighbouring buckets: every latency is within 2.5 % of its bucket's middle. */
const growth = 1.05;
const minMs = 0.01;
const maxMs = 24 * 60 * 60_000;

/** The bucket that a latency falls into. */
export function bucketOf(latencyMs: number): number {
  const withinMs = Math.min(Math.max(latencyMs, minMs), maxMs);
  return Math.floor(Math.log(withinMs / minMs) / Math.log(growth));
}

/** The geometric middle of a bucket, in milliseconds. */
export function middleOf(bucket: number): number {
  return Number((minMs * growth ** (bucket + 0.5)).toPrecision(3));
}

/** How many latencies fell into each bucket, by the bucket's number. */
export type BucketCounts = Map<number, number>;

export function addToBucket(counts: BucketCounts, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count);
}

/** How long predictions took, in total and without the upstream's part. */
export interface LatencyCounts {
  total: BucketCounts;
  overhead: BucketCounts;
}

export function noLatencies(): LatencyCounts {
  return { total: new Map(), overhead: new Map() };
}

export function toLatency({ total, overhead }: LatencyCounts): Latency {
  return { count: countOf(total), total_ms: toQuantiles(total), overhead_ms: toQuantiles(overhead) };
}

function toQuantiles(counts: BucketCounts): Latency["total_ms"] {
  if (counts.size === 0) return null;
  return { p50: quantile(counts, 50), p95: quantile(counts, 95) };
}

/** The nearest rank: the lowest latency that at least `percent` of all do not exceed. */
function quantile(counts: BucketCounts, percent: number): number {
  const rank = Math.ceil((countOf(counts) * percent) / 100);
  const buckets = [...counts.keys()].sort((a, b) => a - b);
  let passed = 0;
  const found = buckets.find((bucket) => {
    passed += counts.get(bucket) ?? 0;
    return passed >= rank;
  });
  return middleOf(found ?? 0);
}

function countOf(counts: BucketCounts): number {
  return counts.values().reduce((sum, count) => sum + count, 0);
}
