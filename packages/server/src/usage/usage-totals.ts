import type { UsageFailure, UsageOperation } from "@presage/contract";
import { bucketOf } from "./latency-buckets.ts";

/** An upstream may claim anything; the store must be able to hold what is made of it. */
const mostTokens = 1e9;

/** One request that was answered. */
export interface Use {
  accountId: string;
  /** Undefined: it came with a session. */
  keyId: string | undefined;
  operation: UsageOperation;
  /** Undefined: it succeeded. */
  failure: UsageFailure | undefined;
  promptTokens: number | undefined;
  completionTokens: number | undefined;
  totalMs: number;
  /** What of this the upstream took; undefined if it was not asked. */
  upstreamMs: number | undefined;
}

/** How many latencies fell into each bucket. */
export type BucketCounts = Map<number, number>;

/** What was asked for alike in one hour. */
export interface UsageTally extends Pick<Use, "accountId" | "keyId" | "operation" | "failure"> {
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  requests: number;
  promptTokens: number;
  completionTokens: number;
  totals: BucketCounts;
  overheads: BucketCounts;
}

export function emptyTally({ accountId, keyId, operation, failure }: Use, hour: number): UsageTally {
  const counts = { requests: 0, promptTokens: 0, completionTokens: 0 };
  return { accountId, keyId, operation, failure, hour, ...counts, totals: new Map(), overheads: new Map() };
}

export function addUse(
  tally: UsageTally,
  { promptTokens = 0, completionTokens = 0, totalMs, upstreamMs }: Use,
): void {
  tally.requests += 1;
  tally.promptTokens += toPlausible(promptTokens);
  tally.completionTokens += toPlausible(completionTokens);
  if (upstreamMs === undefined) return;
  addToBucket(tally.totals, bucketOf(totalMs), 1);
  addToBucket(tally.overheads, bucketOf(totalMs - upstreamMs), 1);
}

export function addTally(tally: UsageTally, other: UsageTally): void {
  tally.requests += other.requests;
  tally.promptTokens += other.promptTokens;
  tally.completionTokens += other.completionTokens;
  for (const [bucket, count] of other.totals) addToBucket(tally.totals, bucket, count);
  for (const [bucket, count] of other.overheads) addToBucket(tally.overheads, bucket, count);
}

export function addToBucket(counts: BucketCounts, bucket: number, count: number): void {
  counts.set(bucket, (counts.get(bucket) ?? 0) + count);
}

function toPlausible(tokens: number): number {
  return Math.min(Math.max(tokens, 0), mostTokens);
}
