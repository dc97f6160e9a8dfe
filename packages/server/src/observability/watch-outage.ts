import type { Logger } from "pino";

/** A store that still fails some of what it is asked is not back. */
const quietMs = 10_000;

export interface OutageWatch {
  failed(error: unknown): void;
  answered(): void;
}

/**
 * Says of each outage of the store when it begins and when it is over, and no more: in an outage every call fails. It is over
 * when the store answers and nothing has failed for 10 s; one that takes no writes goes on answering reads.
 */
export function watchOutage(logger: Logger): OutageWatch {
  let outage: { sinceMs: number; lastFailureAtMs: number; failures: number } | undefined;
  return {
    failed(error) {
      const nowMs = performance.now();
      if (outage === undefined) {
        outage = { sinceMs: nowMs, lastFailureAtMs: nowMs, failures: 0 };
        logger.warn(reasonOf(error), "the store is not available");
      }
      outage.lastFailureAtMs = nowMs;
      outage.failures += 1;
    },
    answered() {
      if (outage === undefined || performance.now() - outage.lastFailureAtMs < quietMs) return;
      const { sinceMs, lastFailureAtMs, failures } = outage;
      outage = undefined;
      logger.warn({ lastedMs: Math.round(lastFailureAtMs - sinceMs), failures }, "the store answers again");
    },
  };
}

/** What the store itself said, in a line. No more of its error: its details may repeat a row. */
function reasonOf(error: unknown): { reason: string; code: string | undefined } {
  if (error instanceof AggregateError && error.message === "") return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return { reason: String(error), code: undefined };
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return { reason: error.message, code: "code" in error ? String(error.code) : undefined };
}
