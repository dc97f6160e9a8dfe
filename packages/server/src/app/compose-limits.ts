import type { KeyDigest } from "../accounts/verify-api-key.ts";
import type { Config } from "../config/config.ts";
import { type Admission, createAdmission } from "../platform/limits/admission.ts";
import {
  countProcesses,
  createSharedTokenBuckets,
  createTokenBuckets,
  type TakeTokens,
} from "../platform/limits/token-buckets.ts";
import { type Metrics, watchProcesses } from "../platform/observability/metrics.ts";
import type { Redis } from "../platform/redis.ts";
import { shareOf } from "./workers.ts";

interface LimitServices {
  /** Absent: each process counts for itself. */
  redis: Redis | undefined;
  keyDigest: KeyDigest;
  metrics: Metrics;
}

export interface ComposedLimits {
  predictions: Admission;
  evaluations: Admission;
  stop(): Promise<void>;
}

/** Who may make how many requests. */
export function composeLimits(config: Config, services: LimitServices): ComposedLimits {
  const { takeTokens, stop } = composeBuckets(config, services);
  const { prediction, evaluation, workers } = config;
  const ofWorker = { shareOf: (limit: number) => shareOf(limit, workers) };
  return {
    predictions: createAdmission(
      { what: "prediction", maxInFlightEach: prediction.maxInFlight, ...prediction, ...ofWorker },
      takeTokens,
    ),
    evaluations: createAdmission(
      { what: "evaluation", ratePerMinute: 0, userRatePerMinute: 0, ...evaluation, ...ofWorker },
      takeTokens,
    ),
    stop,
  };
}

function composeBuckets(
  { workers }: Config,
  { redis, keyDigest, metrics }: LimitServices,
): { takeTokens: TakeTokens; stop(): Promise<void> } {
  const own = createTokenBuckets();
  if (redis === undefined) {
    return { takeTokens: (buckets) => own.take(buckets, 1 / workers.count), stop: async () => {} };
  }
  // Processes share limits if they share a database; others may use the same Redis.
  const prefix = `presage:${keyDigest("limits in Redis").slice(0, 16)}:`;
  const seen = countProcesses(redis, `${prefix}processes`);
  watchProcesses(metrics.registry, seen.count);
  const takeTokens = createSharedTokenBuckets({
    redis,
    prefix: `${prefix}rate:`,
    own,
    // Workers know of each other, also if none has reached Redis yet.
    processes: () => Math.max(seen.count(), workers.count),
    count: (decidedBy) => metrics.rateChecks([decidedBy]),
  });
  return { takeTokens, stop: seen.stop };
}
