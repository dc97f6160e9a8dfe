import { LRUCache } from "lru-cache";
import { lruLimit } from "../lru-limit.ts";

const maxBuckets = 300_000;
const minuteMs = 60_000;

/** Holds as many tokens as one minute gives. */
export interface Bucket {
  id: string;
  perMinute: number;
}

export interface BucketState {
  /** Whole and fractional tokens, after the taking. */
  tokens: number;
  /** Time until there was a token; 0 if there was one. */
  waitMs: number;
}

/** Takes a token from each bucket, or from none of them if one is empty. The states are in the buckets' order. */
export type TakeTokens = (buckets: readonly Bucket[]) => BucketState[] | Promise<BucketState[]>;

interface Filled {
  tokens: number;
  filledAtMs: number;
}

/**
 * Buckets in this process's memory. With a `share` below 1 they fill that much slower and hold that much less, but always one
 * token: a rate of one per minute, shared by four processes, still lets each have one in four minutes.
 */
export function createTokenBuckets() {
  const buckets = new LRUCache<string, Filled>(lruLimit(maxBuckets));

  function fill({ id, perMinute }: Bucket, share: number, nowMs: number): Filled {
    const capacity = Math.max(1, perMinute * share);
    const known = buckets.get(id);
    if (known === undefined) {
      const full = { tokens: capacity, filledAtMs: nowMs };
      buckets.set(id, full);
      return full;
    }
    const refill = ((nowMs - known.filledAtMs) / minuteMs) * perMinute * share;
    known.tokens = Math.min(capacity, known.tokens + refill);
    known.filledAtMs = nowMs;
    return known;
  }

  return {
    take(wanted: readonly Bucket[], share = 1): BucketState[] {
      const nowMs = performance.now();
      const filled = wanted.map((bucket) => fill(bucket, share, nowMs));
      const taken = filled.every(({ tokens }) => tokens >= 1) ? 1 : 0;
      return filled.map((bucket, index) => {
        const waitMs = waitForToken(bucket.tokens, (wanted[index]?.perMinute ?? 1) * share);
        bucket.tokens -= taken;
        return { tokens: bucket.tokens, waitMs };
      });
    },
  };
}

/** Time until a bucket with this many tokens has one. */
export function waitForToken(tokens: number, perMinute: number): number {
  return tokens >= 1 ? 0 : ((1 - tokens) / perMinute) * minuteMs;
}
