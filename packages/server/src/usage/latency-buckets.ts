/** How much wider each bucket is than the one before: no latency is further than 2.5 % from what stands for its bucket. */
const growth = 1.05;
const shortestMs = 0.01;
const longestMs = 24 * 60 * 60_000;

/** The bucket that a latency falls into. */
export function bucketOf(latencyMs: number): number {
  const withinMs = Math.min(Math.max(latencyMs, shortestMs), longestMs);
  return Math.floor(Math.log(withinMs / shortestMs) / Math.log(growth));
}

/** The latency that stands for all of a bucket, in milliseconds: its middle, as ratios go. */
export function middleOf(bucket: number): number {
  return Number((shortestMs * growth ** (bucket + 0.5)).toPrecision(3));
}
