import type { UsageFailure, UsageOperation } from "@presage/contract";
import { bucketOf } from "./latency-buckets.ts";

/** Per request: an upstream may claim anything, and the sum must fit its column. */
const maxTokens = 1e9;

/** One finished request. */
export interface Use {
  accountId: string;
  /** Undefined: with a session. */
  keyId: string | undefined;
  operation: UsageOperation;
  /** Undefined: it succeeded. */
  failure: UsageFailure | undefined;
  promptTokens: number | undefined;
  completionTokens: number | undefined;
  /** Whether the upstream was asked for these tokens; if not, they are counted apart. Absent: it was. */
  wasAsked?: boolean;
  totalMs: number;
  /** The upstream's part of `totalMs`; undefined if it was not called. */
  upstreamMs: number | undefined;
}

/** How many latencies fell into each bucket, by the bucket's number. */
export type BucketCounts = Map<number, number>;

/** Requests of one hour with the same account, key, operation and failure. */
export interface UsageTotals extends Pick<Use, "accountId" | "keyId" | "operation" | "failure"> {
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  requests: number;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  totalLatencies: BucketCounts;
  overheadLatencies: BucketCounts;
}

export function emptyTotals({ accountId, keyId, operation, failure }: Use, hour: number): UsageTotals {
  const counts = { requests: 0, promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
  return {
    accountId,
    keyId,
    operation,
    failure,
    hour,
    ...counts,
    totalLatencies: new Map(),
    overheadLatencies: new Map(),
  };
}

export function addUse(
  totals: UsageTotals,
  { promptTokens = 0, completionTokens = 0, wasAsked = true, totalMs, upstreamMs }: Use,
): void {
  totals.requests += 1;
  if (wasAsked) {
    totals.promptTokens += toPlausible(promptTokens);
    totals.completionTokens += toPlausible(completionTokens);
  } else totals.cachedTokens += toPlausible(promptTokens + completionTokens);
  if (upstreamMs === undefined) return;
  addToBucket(totals.totalLatencies, bucketOf(totalMs), 1);
  addToBucket(totals.overheadLatencies, bucketOf(totalMs - upstreamMs), 1);
}

export function addTotals(totals: UsageTotals, other: UsageTotals): void {
  totals.requests += other.requests;
  totals.promptTokens += other.promptTokens;
  totals.completionTokens += other.completionTokens;
  totals.cachedTokens += other.cachedTokens;
  for (const [bucket, count] of other.totalLatencies) addToBucket(totals.totalLatencies, bucket, count);
  for (const [bucket, count] of other.overheadLatencies) addToBucket(totals.overheadLatencies, bucket, count);
}

export function addToBucket(counts: BucketCounts, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count);
}

function toPlausible(tokens: number): number {
  return Math.min(Math.max(tokens, 0), maxTokens);
}
