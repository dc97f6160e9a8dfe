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
