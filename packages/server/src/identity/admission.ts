import { LRUCache } from "lru-cache";
import { ServiceError } from "../errors.ts";

const maxBuckets = 100_000;
const minuteMs = 60_000;

export interface AdmissionLimits {
  /** Prediction requests a minute for each holder of a rate; 0 sets no limit. */
  ratePerMinute: number;
  /** Predictions under way at once. */
  maxInFlight: number;
}

/** What is left of a rate, in whole requests. */
export interface RateStatus {
  limit: number;
  remaining: number;
}

export interface Admission {
  /** Lets a prediction in or throws; both limits are checked in one step, and a refusal uses up neither. */
  admit(holder: string): RateStatus | undefined;
  /** A prediction that was let in has ended. */
  leave(): void;
  inFlight(): number;
}

/** A request that the rate of its key, or of its user, does not allow. */
export class RateLimitError extends ServiceError {
  readonly rate: RateStatus;

  constructor(rate: RateStatus, retryAfterS: number) {
    super("rate_limited", `No more than ${rate.limit} prediction requests a minute are allowed.`, {
      retryAfterS,
    });
    this.rate = rate;
  }
}

/** A token bucket for each key, and for each user in the dashboard, which holds a minute's worth, and one count of all predictions under way. */
export function createAdmission({ ratePerMinute, maxInFlight }: AdmissionLimits): Admission {
  const buckets = new LRUCache<string, { tokens: number; filledAtMs: number }>({ max: maxBuckets });
  let inFlight = 0;

  function takeToken(holder: string): RateStatus {
    const nowMs = performance.now();
    const bucket = buckets.get(holder) ?? { tokens: ratePerMinute, filledAtMs: nowMs };
    const refill = ((nowMs - bucket.filledAtMs) / minuteMs) * ratePerMinute;
    bucket.tokens = Math.min(ratePerMinute, bucket.tokens + refill);
    bucket.filledAtMs = nowMs;
    buckets.set(holder, bucket);
    if (bucket.tokens < 1) {
      const waitMs = ((1 - bucket.tokens) / ratePerMinute) * minuteMs;
      throw new RateLimitError({ limit: ratePerMinute, remaining: 0 }, Math.max(1, Math.ceil(waitMs / 1000)));
    }
    bucket.tokens -= 1;
    return { limit: ratePerMinute, remaining: Math.floor(bucket.tokens) };
  }

  return {
    admit(holder) {
      if (inFlight >= maxInFlight) {
        throw new ServiceError("overloaded", `${maxInFlight} predictions are already under way.`, {
          retryAfterS: 1,
        });
      }
      const rate = ratePerMinute > 0 ? takeToken(holder) : undefined;
      inFlight += 1;
      return rate;
    },
    leave() {
      inFlight -= 1;
    },
    inFlight: () => inFlight,
  };
}
