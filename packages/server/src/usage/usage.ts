import type { Use } from "../http/exchange.ts";

import { isCountedModelName } from "../platform/prices.ts";
import { writeInBatches } from "../platform/storage/batches.ts";
import type {
  LatencyMeasure,
  UsageCountsTable,
  UsageLatenciesTable,
  UsageModelTokensTable,
} from "../platform/storage/schema/accounts.ts";

/** How many names without a price an account's callers can add in an hour. */
const maxNames = 100;

/** The name under which an account's tokens of this hour are counted; undefined: under none. */
export type CountedModels = (
  accountId: string,
  hour: number,
  model: string | undefined,
) => string | undefined;

/**
 * Callers name models as they like, and many upstreams serve any name: without a limit they could add rows without end. A model
 * with a price is always counted by its name, so its tokens cannot hide behind others.
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

/** Per request: an upstream may claim anything, and the sum must fit its column. */
const maxTokens = 1e9;

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

function addTotals(totals: UsageTotals, other: UsageTotals): void {
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

/** Usage that needs more totals than these is lost: the database has been unavailable for long. */
const maxPending = 10_000;
const hourMs = 60 * 60_000;

export interface UsageCollector {
  record(use: Use): void;
  /** Writes what is pending and stops. */
  stop(): Promise<void>;
}

/** Adds up usage and writes it in batches. What cannot be written is kept for the next batch, up to a limit. */
export function collectUsage(
  write: (batch: ReadonlyMap<string, UsageTotals>) => Promise<void>,
  onFailure: (error: unknown, isFirst: boolean) => void,
  hasPrice: (model: string) => boolean = () => false,
  intervalMs?: number,
): UsageCollector {
  const countedModel = createCountedModels(hasPrice);
  const { pending, stop } = writeInBatches<UsageTotals>({
    intervalMs,
    write,
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
      const hour = Math.floor(Date.now() / hourMs);
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
    stop,
  };
}

/** The rows that totals add to, in the same order in every process, so that no two can deadlock. */
export function toUsageRows(allTotals: readonly UsageTotals[]): {
  counts: UsageCountsTable[];
  modelTokens: UsageModelTokensTable[];
  latencies: UsageLatenciesTable[];
} {
  return {
    counts: sorted(sumCounts(allTotals)),
    modelTokens: sorted(sumModelTokens(allTotals)),
    latencies: sorted(sumLatencies(allTotals)),
  };
}

/** Requests and tokens of all models together. */
function sumCounts(allTotals: readonly UsageTotals[]): UsageCountsTable[] {
  const rows = new Map<string, UsageCountsTable>();
  for (const totals of allTotals) {
    const { accountId, hour, keyId = "", operation, failure = "" } = totals;
    const name = `${accountId} ${hour} ${keyId} ${operation} ${failure}`;
    const row = rows.get(name) ?? {
      account_id: accountId,
      hour,
      key_id: keyId,
      operation,
      outcome: failure,
      requests: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
      cached_tokens: 0,
    };
    rows.set(name, row);
    row.requests += totals.requests;
    row.prompt_tokens += totals.promptTokens;
    row.completion_tokens += totals.completionTokens;
    row.cached_tokens += totals.cachedTokens;
  }
  return [...rows.values()];
}

/** Tokens of each model, whatever became of the requests. */
function sumModelTokens(allTotals: readonly UsageTotals[]): UsageModelTokensTable[] {
  const rows = new Map<string, UsageModelTokensTable>();
  for (const totals of allTotals) {
    const { accountId, hour, keyId = "", operation, model } = totals;
    if (model === undefined || totals.promptTokens + totals.completionTokens === 0) continue;
    const name = `${accountId} ${hour} ${keyId} ${operation} ${model}`;
    const row = rows.get(name) ?? {
      account_id: accountId,
      hour,
      key_id: keyId,
      operation,
      model,
      prompt_tokens: 0,
      completion_tokens: 0,
      upstream_cached_tokens: 0,
    };
    rows.set(name, row);
    row.prompt_tokens += totals.promptTokens;
    row.completion_tokens += totals.completionTokens;
    row.upstream_cached_tokens += totals.upstreamCachedTokens;
  }
  return [...rows.values()];
}

/** Latencies are counted for an account, not for each key. */
function sumLatencies(allTotals: readonly UsageTotals[]): UsageLatenciesTable[] {
  const rows = new Map<string, UsageLatenciesTable>();

  function add({ accountId, hour }: UsageTotals, measure: LatencyMeasure, buckets: BucketCounts): void {
    for (const [bucket, count] of buckets) {
      const name = `${accountId} ${hour} ${measure} ${bucket}`;
      const row = rows.get(name);
      if (row !== undefined) row.count += count;
      else rows.set(name, { account_id: accountId, hour, measure, bucket, count });
    }
  }

  for (const totals of allTotals) {
    add(totals, "total", totals.totalLatencies);
    add(totals, "overhead", totals.overheadLatencies);
  }
  return [...rows.values()];
}

/** By all columns, those of the primary key first. */
function sorted<Row extends object>(rows: readonly Row[]): Row[] {
  const named = rows.map((row) => ({ row, name: Object.values(row).join(" ") }));
  return named.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ row }) => row);
}
