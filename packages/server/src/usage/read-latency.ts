import type { Requester } from "../platform/storage/reader.ts";
import type { LatencyMeasure } from "../platform/storage/schema/usage.ts";
import type { Store } from "../platform/storage/store.ts";
import { middleOf } from "./latency-buckets.ts";
import { selectLatencies, type UsagePeriod } from "./usage-store.ts";
import { addToBucket, type BucketCounts } from "./usage-totals.ts";

export interface Quantiles {
  p50: number;
  p95: number;
}

/** Latencies of predictions. */
export interface LatencyFigures {
  count: number;
  /** Undefined: no predictions. */
  totalMs: Quantiles | undefined;
  overheadMs: Quantiles | undefined;
}

export interface LatencyReport {
  overall: LatencyFigures;
  /** Oldest first; without steps that had no predictions. */
  steps: (LatencyFigures & { startHour: number })[];
}

type Histograms = Record<LatencyMeasure, BucketCounts>;

/** Latencies of an account's predictions. */
export async function readLatency(
  store: Store,
  requester: Requester,
  period: UsagePeriod,
): Promise<LatencyReport> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  const rows = await selectLatencies(reader, accountId, period);
  const overall = emptyHistograms();
  const steps = new Map<number, Histograms>();
  for (const { start_hour, measure, bucket, count } of rows) {
    const step = steps.get(start_hour) ?? emptyHistograms();
    steps.set(start_hour, step);
    for (const histograms of [overall, step]) addToBucket(histograms[measure], bucket, count);
  }
  return {
    overall: toFigures(overall),
    steps: [...steps].map(([startHour, histograms]) => ({ startHour, ...toFigures(histograms) })),
  };
}

function emptyHistograms(): Histograms {
  return { total: new Map(), overhead: new Map() };
}

function toFigures({ total, overhead }: Histograms): LatencyFigures {
  return { count: countOf(total), totalMs: toQuantiles(total), overheadMs: toQuantiles(overhead) };
}

function toQuantiles(counts: BucketCounts): Quantiles | undefined {
  if (counts.size === 0) return undefined;
  return { p50: quantile(counts, 50), p95: quantile(counts, 95) };
}

/** The nearest rank: the lowest latency that at least `percent` of all do not exceed. */
function quantile(counts: BucketCounts, percent: number): number {
  const rank = Math.ceil((countOf(counts) * percent) / 100);
  const buckets = [...counts.keys()].sort((a, b) => a - b);
  let passed = 0;
  const found = buckets.find((bucket) => {
    passed += counts.get(bucket) ?? 0;
    return passed >= rank;
  });
  return middleOf(found ?? 0);
}

function countOf(counts: BucketCounts): number {
  return counts.values().reduce((sum, count) => sum + count, 0);
}
