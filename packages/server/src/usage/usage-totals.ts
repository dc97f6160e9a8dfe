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
  /** The part of the prompt that the upstream had in its own cache. Absent: none. */
  upstreamCachedTokens?: number | undefined;
  /** The name that was sent to the upstream. Absent: it was not asked, or its tokens are not known. */
  model?: string | undefined;
  /** Whether the upstream was asked for these tokens; if not, they are counted apart. Absent: it was. */
  wasAsked?: boolean;
  totalMs: number;
  /** The upstream's part of `totalMs`; undefined if it was not called. */
  upstreamMs: number | undefined;
}

/** How many latencies fell into each bucket, by the bucket's number. */
export type BucketCounts = Map<number, number>;

/** Requests of one hour with the same account, key, operation, failure and model. */
export interface UsageTotals extends Pick<Use, "accountId" | "keyId" | "operation" | "failure"> {
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  /** Undefined: no model by whose name tokens are counted. */
  model: string | undefined;
  requests: number;
  promptTokens: number;
  completionTokens: number;
  upstreamCachedTokens: number;
  cachedTokens: number;
  totalLatencies: BucketCounts;
  overheadLatencies: BucketCounts;
}

export function emptyTotals({ accountId, keyId, operation, failure, model }: Use, hour: number): UsageTotals {
  const tokens = { promptTokens: 0, completionTokens: 0, upstreamCachedTokens: 0, cachedTokens: 0 };
  return {
    accountId,
    keyId,
    operation,
    failure,
    hour,
    model,
    requests: 0,
    ...tokens,
    totalLatencies: new Map(),
    overheadLatencies: new Map(),
  };
}

export function addUse(
  totals: UsageTotals,
  {
    promptTokens = 0,
    completionTokens = 0,
    upstreamCachedTokens = 0,
    wasAsked = true,
    totalMs,
    upstreamMs,
  }: Use,
): void {
  totals.requests += 1;
  if (wasAsked) {
    totals.promptTokens += toPlausible(promptTokens);
    totals.completionTokens += toPlausible(completionTokens);
    totals.upstreamCachedTokens += toPlausible(upstreamCachedTokens);
  } else totals.cachedTokens += toPlausible(promptTokens + completionTokens);
  if (upstreamMs === undefined) return;
  addToBucket(totals.totalLatencies, bucketOf(totalMs), 1);
  addToBucket(totals.overheadLatencies, bucketOf(totalMs - upstreamMs), 1);
}

export function addTotals(totals: UsageTotals, other: UsageTotals): void {
  totals.requests += other.requests;
  totals.promptTokens += other.promptTokens;
  totals.completionTokens += other.completionTokens;
  totals.upstreamCachedTokens += other.upstreamCachedTokens;
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
