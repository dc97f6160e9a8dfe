import { LRUCache } from "lru-cache";
import { ServiceError } from "../errors.ts";
import { createInFlight } from "../limits/in-flight.ts";

const maxBuckets = 100_000;
const minuteMs = 60_000;

export interface AdmissionLimits {
  /** Prediction requests a minute for each key, and for all sessions of a user together; 0 sets no limit. */
  ratePerMinute: number;
  /** For all keys and sessions of a user together; 0 sets no limit. */
  userRatePerMinute: number;
  /** For all users of an account together; 0 sets no limit. */
  accountRatePerMinute: number;
  /** Of predictions in flight. */
  maxInFlight: number;
}

/** Whose rate limits a prediction counts against. */
export interface RateHolders {
  /** Each key has its own rate limit; the sessions of a user share one. */
  keyOrUserId: string;
  userId: string;
  accountId: string;
}

/** What is left of a rate limit, in whole requests. */
export interface RateStatus {
  limit: number;
  remaining: number;
}

export interface Admission {
  /** Admits a prediction or throws. All limits are checked in one step, and a refusal counts against none of them. */
  admit(holders: RateHolders): RateStatus | undefined;
  /** An admitted prediction has ended. */
  leave(accountId: string): void;
  inFlight(): number;
}

/** A request that exceeds the rate limit of its key, user or account. */
export class RateLimitError extends ServiceError {
  /** The key's own, whichever limit was exceeded; undefined if keys have none. */
  readonly rate: RateStatus | undefined;

  constructor(message: string, rate: RateStatus | undefined, retryAfterS: number) {
    super("rate_limited", message, { retryAfterS });
    this.rate = rate;
  }
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** A token bucket per holder with the capacity of one minute. Reading a bucket does not take a token. */
interface RateLimit {
  perMinute: number;
  bucketOf(holder: string, nowMs: number): Bucket;
  /** Time until the next token; 0 if there is one. */
  waitMs(bucket: Bucket): number;
}

interface Level {
  limit: RateLimit;
  holderOf(holders: RateHolders): string;
  /** Whose limit it is, for the error text. */
  whose: string;
}

/** Rate limits of keys, users and accounts, since creating keys costs nothing; and one limit on predictions in flight, shared fairly by accounts. */
export function createAdmission(limits: AdmissionLimits): Admission {
  const keys = levelOf(
    limits.ratePerMinute,
    ({ keyOrUserId }) => keyOrUserId,
    "a key, or for a user in the dashboard",
  );
  const levels = [
    keys,
    levelOf(limits.userRatePerMinute, ({ userId }) => userId, "all keys and sessions of a user together"),
    levelOf(limits.accountRatePerMinute, ({ accountId }) => accountId, "an account"),
  ].filter((level) => level !== undefined);
  const inFlight = createInFlight(
    limits.maxInFlight,
    `At most ${limits.maxInFlight} predictions may be in flight at once, and none is free for this account right now.`,
  );

  function takeTokens(holders: RateHolders): RateStatus | undefined {
    const nowMs = performance.now();
    const buckets = levels.map(({ limit, holderOf }) => limit.bucketOf(holderOf(holders), nowMs));
    const [ofKey] = buckets;
    const status = (): RateStatus | undefined =>
      keys === undefined || ofKey === undefined
        ? undefined
        : { limit: keys.limit.perMinute, remaining: Math.floor(ofKey.tokens) };
    const { level, waitMs } = longestWait(levels, buckets);
    if (level !== undefined) throw refusal(level, status(), waitMs);
    for (const bucket of buckets) bucket.tokens -= 1;
    return status();
  }

  return {
    admit(holders) {
      inFlight.enter(holders.accountId);
      if (levels.length === 0) return undefined;
      try {
        return takeTokens(holders);
      } catch (error) {
        inFlight.leave(holders.accountId);
        throw error;
      }
    },
    leave: inFlight.leave,
    inFlight: inFlight.count,
  };
}

function levelOf(perMinute: number, holderOf: Level["holderOf"], whose: string): Level | undefined {
  return perMinute === 0 ? undefined : { limit: createRateLimit(perMinute), holderOf, whose };
}

function longestWait(
  levels: readonly Level[],
  buckets: readonly Bucket[],
): { level?: Level; waitMs: number } {
  let longest: { level?: Level; waitMs: number } = { waitMs: 0 };
  for (const [index, level] of levels.entries()) {
    const bucket = buckets[index];
    const waitMs = bucket === undefined ? 0 : level.limit.waitMs(bucket);
    if (waitMs > longest.waitMs) longest = { level, waitMs };
  }
  return longest;
}

function refusal({ limit, whose }: Level, rate: RateStatus | undefined, waitMs: number): RateLimitError {
  const message = `At most ${limit.perMinute} prediction requests a minute are allowed for ${whose}.`;
  return new RateLimitError(message, rate, Math.max(1, Math.ceil(waitMs / 1000)));
}

function createRateLimit(perMinute: number): RateLimit {
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
