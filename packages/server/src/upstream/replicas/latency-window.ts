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
  /** Moving averages; undefined before the first response. */
  average(): AverageLatency | undefined;
  percentiles(): { p50: number; p99: number } | undefined;
}

export function createLatencyWindow(): LatencyWindow {
  const latest: number[] = [];
  let next = 0;
  let average: AverageLatency | undefined;
  return {
    record(latencyMs, held) {
      latest[next] = latencyMs;
      next = (next + 1) % windowLength;
      const msPerRequestHeld = latencyMs / held;
      if (average === undefined) average = { ms: latencyMs, msPerRequestHeld };
      else {
        average.ms += (latencyMs - average.ms) * newShare;
        average.msPerRequestHeld += (msPerRequestHeld - average.msPerRequestHeld) * newShare;
      }
    },
    average: () => average,
    percentiles() {
      if (latest.length === 0) return undefined;
      const sorted = latest.toSorted((one, other) => one - other);
      const at = (quantile: number) => sorted[Math.ceil(quantile * sorted.length) - 1] ?? 0;
      return { p50: at(0.5), p99: at(0.99) };
    },
  };
}
