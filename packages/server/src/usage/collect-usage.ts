import type { Latency } from "@presage/contract";
import type { Use } from "../http/exchange.ts";
import { isCountedModelName } from "../platform/prices.ts";
import { type Batching, writeInBatches } from "../platform/storage/batches.ts";
import { microsPerHour, nowMicros } from "../platform/storage/columns.ts";
import { isRefusedValue } from "../platform/storage/store-error.ts";

/** The ratio of neighbouring buckets: every latency is within 2.5 % of its bucket's middle. */
const growth = 1.05;
const minMs = 0.01;
const maxMs = 24 * 60 * 60_000;

/** The bucket that a latency falls into. */
export function bucketOf(latencyMs: number): number {
  const withinMs = Math.min(Math.max(latencyMs, minMs), maxMs);
  return Math.floor(Math.log(withinMs / minMs) / Math.log(growth));
}

/** The geometric middle of a bucket, in milliseconds. */
export function middleOf(bucket: number): number {
  return Number((minMs * growth ** (bucket + 0.5)).toPrecision(3));
}

/** How many latencies fell into each bucket, by the bucket's number. */
export type BucketCounts = Map<number, number>;

export function addToBucket(counts: BucketCounts, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count);
}

/** How long predictions took, in total and without the upstream's part. */
export interface LatencyCounts {
  total: BucketCounts;
  overhead: BucketCounts;
}

export function noLatencies(): LatencyCounts {
  return { total: new Map(), overhead: new Map() };
}

export function toLatency({ total, overhead }: LatencyCounts): Latency {
  return { count: countOf(total), total_ms: toQuantiles(total), overhead_ms: toQuantiles(overhead) };
}

function toQuantiles(counts: BucketCounts): Latency["total_ms"] {
  if (counts.size === 0) return null;
  return { p50: quantile(counts, 50), p95: quantile(counts, 95) };
}

/** The nearest rank: the lowest latency that at least `percent` of all latencies do not exceed. */
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

/** How many names without a price an account's callers can add in an hour. */
const maxNames = 100;

/** The name under which an account's tokens of this hour are counted; undefined if they are not counted by name. */
type CountedModels = (accountId: string, hour: number, model: string | undefined) => string | undefined;

/**
 * Callers name models as they like, and many upstreams serve any name: without a limit they could add endless rows. A model with a
 * price is always counted by its name, so its tokens cannot hide among the others'.
 */
export function createCountedModels(hasPrice: (model: string) => boolean): CountedModels {
  let namesHour = 0;
  const namesOf = new Map<string, Set<string>>();

  return (accountId, hour, model) => {
    if (model === undefined || hasPrice(model)) return model;
    if (hour !== namesHour) {
      namesHour = hour;
      namesOf.clear();
    }
    const names = namesOf.get(accountId) ?? new Set();
    if (names.has(model)) return model;
    if (names.size >= maxNames || !isCountedModelName(model)) return undefined;
    namesOf.set(accountId, names.add(model));
    return model;
  };
}

/** Per request: an upstream may claim anything, and the sum must fit its column. */
const maxTokens = 1e9;

const noCounts = {
  requests: 0,
  promptTokens: 0,
  completionTokens: 0,
  upstreamCachedTokens: 0,
  cachedTokens: 0,
  exampleTokens: 0,
};
type Counts = typeof noCounts;
const countNames = Object.keys(noCounts) as (keyof Counts)[];

/** Requests of one hour with the same account, key, operation, failure and model. */
export interface UsageTotals extends Pick<Use, "accountId" | "keyId" | "operation" | "failure">, Counts {
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  /** Undefined if tokens are not counted by model. */
  model: string | undefined;
  totalLatencies: BucketCounts;
  overheadLatencies: BucketCounts;
}

export function emptyTotals({ accountId, keyId, operation, failure, model }: Use, hour: number): UsageTotals {
  const of = { accountId, keyId, operation, failure, hour, model };
  return { ...of, ...noCounts, totalLatencies: new Map(), overheadLatencies: new Map() };
}

export function addUse(
  totals: UsageTotals,
  {
    promptTokens = 0,
    completionTokens = 0,
    upstreamCachedTokens = 0,
    exampleTokens = 0,
    wasAsked = true,
    isFurtherCall = false,
    totalMs,
    upstreamMs,
  }: Use,
): void {
  if (!isFurtherCall) totals.requests += 1;
  if (wasAsked) {
    totals.promptTokens += toPlausible(promptTokens);
    totals.completionTokens += toPlausible(completionTokens);
    totals.upstreamCachedTokens += toPlausible(upstreamCachedTokens);
    totals.exampleTokens += toPlausible(exampleTokens);
  } else totals.cachedTokens += toPlausible(promptTokens + completionTokens);
  if (upstreamMs === undefined) return;
  addToBucket(totals.totalLatencies, bucketOf(totalMs), 1);
  addToBucket(totals.overheadLatencies, bucketOf(totalMs - upstreamMs), 1);
}

function addTotals(totals: UsageTotals, other: UsageTotals): void {
  for (const name of countNames) totals[name] += other[name];
  for (const [bucket, count] of other.totalLatencies) addToBucket(totals.totalLatencies, bucket, count);
  for (const [bucket, count] of other.overheadLatencies) addToBucket(totals.overheadLatencies, bucket, count);
}

function toPlausible(tokens: number): number {
  return Number.isFinite(tokens) ? Math.min(Math.max(tokens, 0), maxTokens) : 0;
}

/** Usage beyond this many totals is dropped, which happens only if the database is down for long. */
const maxPending = 10_000;

interface UsageCollector {
  record(use: Use): void;
  pending(): ReadonlyMap<string, UsageTotals>;
  writeNow(): Promise<void>;
  /** Writes what is pending and stops. */
  stop(): Promise<void>;
}

type WriteTotals = (batch: ReadonlyMap<string, UsageTotals>) => Promise<void>;

/** Writes all totals together, or one by one if the database refuses a value, which would hold up the rest: the refused totals are lost. */
async function writeAll(write: WriteTotals, batch: Map<string, UsageTotals>): Promise<void> {
  try {
    await write(batch);
  } catch (refusal) {
    if (!isRefusedValue(refusal)) throw refusal;
    for (const [name, totals] of batch) {
      await write(new Map([[name, totals]])).catch((error: unknown) => {
        if (!isRefusedValue(error)) throw error;
      });
      batch.delete(name);
    }
    throw refusal;
  }
}

/** Adds up usage and writes it in batches. What cannot be written is kept for the next batch, up to a limit. */
export function collectUsage(
  write: WriteTotals,
  onFailure: (error: unknown, isFirst: boolean) => void,
  hasPrice: (model: string) => boolean = () => false,
  { intervalMs, afterwards }: Pick<Batching<UsageTotals>, "intervalMs" | "afterwards"> = {},
): UsageCollector {
  const countedModel = createCountedModels(hasPrice);
  const { pending, writeNow, stop } = writeInBatches<UsageTotals>({
    intervalMs,
    afterwards,
    write: (batch) => writeAll(write, batch),
    putBack(batch, newer) {
      for (const [name, totals] of batch) {
        const newerTotals = newer.get(name);
        if (newerTotals !== undefined) addTotals(newerTotals, totals);
        else if (newer.size < maxPending) newer.set(name, totals);
      }
    },
    onFailure,
  });
  return {
    record(use) {
      const all = pending();
      const hour = Math.floor(nowMicros() / microsPerHour);
      const asked = use.wasAsked === false ? undefined : use.model;
      const model = countedModel(use.accountId, hour, asked);
      const name = `${use.accountId} ${hour} ${use.keyId} ${use.operation} ${use.failure} ${model ?? ""}`;
      let totals = all.get(name);
      if (totals === undefined) {
        if (all.size >= maxPending) return;
        totals = emptyTotals({ ...use, model }, hour);
        all.set(name, totals);
      }
      addUse(totals, use);
    },
    pending,
    writeNow,
    stop,
  };
}
