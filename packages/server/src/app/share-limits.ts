import type { Config, Workers } from "../config/config.ts";
import { quarterOfMemory } from "../platform/limits/memory.ts";

/** One worker's part of a limit that holds for all of them together; at least 1, and all of it for a single process. */
export function shareOf(limit: number, { count, index }: Workers): number {
  return Math.max(1, Math.floor(limit / count) + (index < limit % count ? 1 : 0));
}

/** The configuration of one worker: each limit of the whole server is divided, but for rates, which `composeLimits` divides. */
export function configOfWorker(config: Config, index: number): Config {
  const workers = Object.freeze({ count: config.workers.count, index });
  const { cache, prediction, evaluation, runs, judge, memoryBudgetBytes } = config;
  return Object.freeze({
    ...config,
    workers,
    cache: Object.freeze({ ...cache, maxBytes: shareOf(cache.maxBytes, workers) }),
    memoryBudgetBytes: shareOf(memoryBudgetBytes ?? quarterOfMemory(), workers),
    prediction: Object.freeze({ ...prediction, maxInFlight: shareOf(prediction.maxInFlight, workers) }),
    evaluation: Object.freeze({
      ...evaluation,
      maxInFlight: shareOf(evaluation.maxInFlight, workers),
      maxInFlightEach: shareOf(evaluation.maxInFlightEach, workers),
    }),
    runs: Object.freeze({ maxInFlight: shareOf(runs.maxInFlight, workers) }),
    judge: Object.freeze({ ...judge, maxInFlight: shareOf(judge.maxInFlight, workers) }),
  });
}
