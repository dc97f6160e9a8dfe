import type { Logger } from "pino";

/** What still fails some of what it is asked is not back. */
const quietMs = 10_000;

export interface OutageWatch {
  /** Each kind of failure is told of once an outage. There must be few kinds. */
  failed(kind: string, describe: () => object): void;
  answered(): void;
}

/**
 * Says of each outage when it begins and when it is over, and no more: in an outage every call fails. It is over when
 * something is answered and nothing has failed for 10 s.
 */
export function watchOutage(
  logger: Pick<Logger, "warn">,
  words: { begins: string; ends: string; fields?: object },
): OutageWatch {
  let outage: { sinceMs: number; lastFailureAtMs: number; failures: number; kinds: Set<string> } | undefined;
  return {
    failed(kind, describe) {
      const nowMs = performance.now();
      outage ??= { sinceMs: nowMs, lastFailureAtMs: nowMs, failures: 0, kinds: new Set() };
      outage.lastFailureAtMs = nowMs;
      outage.failures += 1;
      if (outage.kinds.has(kind)) return;
      outage.kinds.add(kind);
      logger.warn({ ...words.fields, ...describe() }, words.begins);
    },
    answered() {
      if (outage === undefined || performance.now() - outage.lastFailureAtMs < quietMs) return;
      const { sinceMs, lastFailureAtMs, failures } = outage;
      outage = undefined;
      const lastedMs = Math.round(lastFailureAtMs - sinceMs);
      logger.warn({ ...words.fields, lastedMs, failures }, words.ends);
    },
  };
}
