import { LRUCache } from "lru-cache";
import { ServiceError } from "../errors.ts";
import { createInFlight } from "../limits/in-flight.ts";

const maxBuckets = 100_000;
const minuteMs = 60_000;

export interface AdmissionLimits {
  /** Prediction requests per minute for each key, and for all sessions of a user together; 0: no limit. */
  ratePerMinute: number;
  /** For all keys and sessions of a user together; 0: no limit. */
  userRatePerMinute: number;
  /** For all users of an account together; 0: no limit. */
  accountRatePerMinute: number;
  /** Maximum concurrent predictions. */
  maxInFlight: number;
}

/** Whose rates a prediction counts against. */
export interface RateHolders {
  /** A key has a rate of its own; the sessions of a user share one. */
  keyOrUserId: string;
  userId: string;
  accountId: string;
}

/** The unused part of a rate, in whole requests. */
export interface RateStatus {
  limit: number;
  remaining: number;
}

export interface Admission {
  /** Admits a prediction or throws; all limits are checked in one step, and a rejection counts against none of them. */
  admit(holders: RateHolders): RateStatus | undefined;
  /** An admitted prediction has ended. */
  leave(accountId: string): void;
  inFlight(): number;
}

/** A request beyond the rate of its key, its user or its account. */
export class RateLimitError extends ServiceError {
  /** The key's own, whichever rate was exceeded; undefined if keys have none. */
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
  /** Whose rate it is, for the error message. */
  whose: string;
}

/** Rates of keys, users and accounts, since keys are free to create, and one limit on concurrent predictions with a share for each account. */
export function createAdmission(limits: AdmissionLimits): Admission {
  const keys = levelOf(
    limits.ratePerMinute,
    ({ keyOrUserId }) => keyOrUserId,
    "a key, or a user of the dashboard",
  );
  const levels = [
    keys,
    levelOf(limits.userRatePerMinute, ({ userId }) => userId, "all keys and sessions of a user together"),
    levelOf(limits.accountRatePerMinute, ({ accountId }) => accountId, "an account"),
  ].filter((level) => level !== undefined);
  const inFlight = createInFlight(
    limits.maxInFlight,
    `At most ${limits.maxInFlight} predictions may be in progress at once; this account has no free slot right now.`,
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
    if (level !== undefined) throw rateLimitError(level, status(), waitMs);
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

function rateLimitError(
  { limit, whose }: Level,
  rate: RateStatus | undefined,
  waitMs: number,
): RateLimitError {
  const message = `At most ${limit.perMinute} prediction requests per minute are allowed for ${whose}.`;
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
