const windowLength = 256;
/** Of a new latency in the moving average: a few slow responses change little, a slow replica shows within 16. */
const newShare = 1 / 16;

/** The latencies of a replica's last responses. */
export interface LatencyWindow {
  record(latencyMs: number): void;
  /** The moving average; undefined before the first response. */
  averageMs(): number | undefined;
  percentiles(): { p50: number; p99: number } | undefined;
}

export function createLatencyWindow(): LatencyWindow {
  const latest: number[] = [];
  let next = 0;
  let average: number | undefined;
  return {
    record(latencyMs) {
      latest[next] = latencyMs;
      next = (next + 1) % windowLength;
      average = average === undefined ? latencyMs : average + (latencyMs - average) * newShare;
    },
    averageMs: () => average,
    percentiles() {
      if (latest.length === 0) return undefined;
      const sorted = latest.toSorted((one, other) => one - other);
      const at = (quantile: number) => sorted[Math.ceil(quantile * sorted.length) - 1] ?? 0;
      return { p50: at(0.5), p99: at(0.99) };
    },
  };
}
