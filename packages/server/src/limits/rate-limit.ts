import { LRUCache } from "lru-cache";

const maxBuckets = 100_000;
const minuteMs = 60_000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** A token bucket for each holder, which holds a minute's worth. To look into one takes nothing out. */
export interface RateLimit {
  perMinute: number;
  bucketOf(holder: string, nowMs: number): Bucket;
  /** How long it takes until there is a token; 0 if there is one. */
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
