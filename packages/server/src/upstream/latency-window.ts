const windowLength = 256;
/** Of a new latency in the moving average: a few slow responses change little, a slow replica shows within 16. */
const newShare = 1 / 16;

export interface AverageLatency {
  ms: number;
  /** Divided by the requests that the replica held: what one takes it where they wait for each other. */
  msPerRequestHeld: number;
}

/** The latencies of a replica's last responses. */
export interface LatencyWindow {
  /** `held`: how many requests the replica had when this one began, this one included. */
  record(latencyMs: number, held: number): void;
  /** The same for a call that ended after this time without a response. It counts in the averages, and not in the percentiles. */
  recordWait(waitedMs: number, held: number): void;
  /** Moving averages; undefined before the first of these calls. */
  average(): AverageLatency | undefined;
  percentiles(): { p50: number; p99: number } | undefined;
}

export function createLatencyWindow(): LatencyWindow {
  const latest: number[] = [];
  let next = 0;
  let average: AverageLatency | undefined;

  function recordWait(ms: number, held: number): void {
    const msPerRequestHeld = ms / held;
    if (average === undefined) average = { ms, msPerRequestHeld };
    else {
      average.ms += (ms - average.ms) * newShare;
      average.msPerRequestHeld += (msPerRequestHeld - average.msPerRequestHeld) * newShare;
    }
  }

  return {
    record(latencyMs, held) {
      latest[next] = latencyMs;
      next = (next + 1) % windowLength;
      recordWait(latencyMs, held);
    },
    recordWait,
    average: () => average,
    percentiles() {
      if (latest.length === 0) return undefined;
      const sorted = latest.toSorted((one, other) => one - other);
      const at = (quantile: number) => sorted[Math.ceil(quantile * sorted.length) - 1] ?? 0;
      return { p50: at(0.5), p99: at(0.99) };
    },
  };
}
