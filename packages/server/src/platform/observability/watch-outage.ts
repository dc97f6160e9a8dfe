import type { Logger } from "pino";

/** Some calls succeed during an outage; it is over when none has failed for this long. */
const quietMs = 10_000;

export interface OutageWatch {
  /** Logs each kind of failure once per outage. There must be few kinds. */
  failed(kind: string, describe: () => object): void;
  responded(): void;
}

/**
 * Logs the start and the end of each outage instead of every failed call. An outage is over when a call succeeds and none has
 * failed for 10 s.
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
    responded() {
      if (outage === undefined || performance.now() - outage.lastFailureAtMs < quietMs) return;
      const { sinceMs, lastFailureAtMs, failures } = outage;
      outage = undefined;
      const lastedMs = Math.round(lastFailureAtMs - sinceMs);
      logger.warn({ ...words.fields, lastedMs, failures }, words.ends);
    },
  };
}
