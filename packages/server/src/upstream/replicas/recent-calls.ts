const bucketMs = 15_000;
const buckets = 20;

/** How many calls ended in the last five minutes, and how many of them the deployment failed. */
export interface RecentCalls {
  count(counts: { calls?: number; failed?: number }): void;
  read(): { calls: number; failed: number };
}

export function createRecentCalls(nowMs: () => number): RecentCalls {
  let kept: { bucket: number; calls: number; failed: number }[] = [];

  function latest() {
    const bucket = Math.floor(nowMs() / bucketMs);
    if (kept.at(-1)?.bucket !== bucket) {
      kept = kept.filter((one) => one.bucket > bucket - buckets);
      kept.push({ bucket, calls: 0, failed: 0 });
    }
    return kept;
  }

  return {
    count({ calls = 0, failed = 0 }) {
      const last = latest().at(-1);
      if (last === undefined) return;
      last.calls += calls;
      last.failed += failed;
    },
    read: () =>
      latest().reduce(
        (sum, { calls, failed }) => ({ calls: sum.calls + calls, failed: sum.failed + failed }),
        { calls: 0, failed: 0 },
      ),
  };
}
