import { LRUCache } from "lru-cache";

const maxBuckets = 100_000;
const minuteMs = 60_000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** A token bucket per holder with the capacity of one minute. Reading a bucket does not take a token. */
export interface RateLimit {
  perMinute: number;
  bucketOf(holder: string, nowMs: number): Bucket;
  /** Time until the next token; 0 if there is one. */
  waitMs(bucket: Bucket): number;
}

export function createRateLimit(perMinute: number): RateLimit {
  const buckets = new LRUCache<string, Bucket>({ max: maxBuckets });
  return {
    perMinute,
    bucketOf(holder, nowMs) {
      const known = buckets.get(holder);
      if (known === undefined) {
        const bucket = { tokens: perMinute, filledAtMs: nowMs };
        buckets.set(holder, bucket);
        return bucket;
      }
      const refill = ((nowMs - known.filledAtMs) / minuteMs) * perMinute;
      known.tokens = Math.min(perMinute, known.tokens + refill);
      known.filledAtMs = nowMs;
      return known;
    },
    waitMs: ({ tokens }) => (tokens >= 1 ? 0 : ((1 - tokens) / perMinute) * minuteMs),
  };
}
