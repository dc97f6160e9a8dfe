const bucketMs = 15_000;
const buckets = 20;

export type RecentCalls = ReturnType<typeof createRecentCalls>;

/** Counts the calls that ended in the last five minutes, and those of them that the deployment failed. */
export function createRecentCalls(nowMs: () => number) {
  let kept: { bucket: number; calls: number; failed: number }[] = [];
  const latest = () => Math.floor(nowMs() / bucketMs);

  return {
    count(calls: number, failed: number): void {
      const bucket = latest();
      const last = kept.at(-1);
      if (last?.bucket === bucket) {
        last.calls += calls;
        last.failed += failed;
        return;
      }
      kept = [...kept.filter((one) => one.bucket > bucket - buckets), { bucket, calls, failed }];
    },
    read(): { calls: number; failed: number } {
      const recent = kept.filter(({ bucket }) => bucket > latest() - buckets);
      const sum = (name: "calls" | "failed") => recent.reduce((all, one) => all + one[name], 0);
      return { calls: sum("calls"), failed: sum("failed") };
    },
  };
}
