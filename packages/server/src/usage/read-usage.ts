import type { UsageFailure, UsageOperation } from "@presage/contract";
import { costOf, type Prices, withoutNoise } from "../platform/prices.ts";
import type { LatencyMeasure } from "../platform/storage/schema/accounts.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { addToBucket, type BucketCounts, middleOf } from "./usage.ts";
import {
  type NamedKey,
  selectCounts,
  selectLatencies,
  selectModelTokens,
  selectNamedKeys,
  type UsagePeriod,
} from "./usage-store.ts";

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

/** Requests of one step and operation with one key, or with sessions. */
export interface UsageOfStep {
  startHour: number;
  /** Undefined: with sessions. */
  keyId: string | undefined;
  operation: UsageOperation;
  requests: number;
  failures: Partial<Record<UsageFailure, number>>;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  /** Of the tokens that have a price, in the currency of the list; null if none has one, or there is no list. */
  cost: number | null;
  /** Tokens of models that have no price, or are not known; 0 without a list. */
  unpricedTokens: number;
}

export interface UsageReport {
  /** Oldest first. */
  steps: UsageOfStep[];
  /** The keys that appear in the steps. */
  keys: NamedKey[];
}

/** This many make a response of about 10 MB and block other requests for a tenth of a second. */
const maxRows = 100_000;

/** An account's usage, or one key's; undefined if there are too many rows for one response. */
export async function readUsage(
  store: Store,
  requester: Requester,
  period: UsagePeriod,
  keyId: string | undefined,
  prices: Prices | undefined,
): Promise<UsageReport | undefined> {
  const { accountId } = requester;
  const reader = store.reader(requester);
  const rows = await selectCounts(reader, accountId, period, keyId, maxRows + 1);
  if (rows.length > maxRows) return undefined;
  const byModel =
    prices === undefined
      ? []
      : await selectModelTokens(reader, accountId, period, keyId, [...prices.models.keys()], maxRows + 1);
  if (byModel.length > maxRows) return undefined;
  const steps: UsageOfStep[] = [];
  for (const row of rows) {
    const rowKeyId = row.key_id === "" ? undefined : row.key_id;
    const last = steps.at(-1);
    const continuesLast =
      last?.startHour === row.start_hour && last.keyId === rowKeyId && last.operation === row.operation;
    const step = continuesLast ? last : emptyStep(row.start_hour, rowKeyId, row.operation);
    if (!continuesLast) steps.push(step);
    step.requests += row.requests;
    step.promptTokens += row.prompt_tokens;
    step.completionTokens += row.completion_tokens;
    step.cachedTokens += row.cached_tokens;
    if (row.outcome !== "") step.failures[row.outcome] = row.requests;
  }
  if (prices !== undefined) addCosts(steps, byModel, prices);
  const keyIds = new Set(steps.flatMap((step) => step.keyId ?? []));
  return { steps, keys: await selectNamedKeys(reader, accountId, [...keyIds]) };
}

function emptyStep(startHour: number, keyId: string | undefined, operation: UsageOperation): UsageOfStep {
  const tokens = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, unpricedTokens: 0 };
  return { startHour, keyId, operation, requests: 0, failures: {}, ...tokens, cost: null };
}

type ModelTokens = Awaited<ReturnType<typeof selectModelTokens>>[number];

function addCosts(steps: readonly UsageOfStep[], byModel: readonly ModelTokens[], prices: Prices): void {
  const rowsOf = Map.groupBy(byModel, (row) => `${row.start_hour} ${row.key_id} ${row.operation}`);
  for (const step of steps) {
    const asked = step.promptTokens + step.completionTokens;
    let pricedTokens = 0;
    let cost = 0;
    for (const row of rowsOf.get(`${step.startHour} ${step.keyId ?? ""} ${step.operation}`) ?? []) {
      pricedTokens += row.prompt_tokens + row.completion_tokens;
      cost +=
        costOf(prices, row.model, {
          promptTokens: row.prompt_tokens,
          completionTokens: row.completion_tokens,
          upstreamCachedTokens: row.upstream_cached_tokens,
        }) ?? 0;
    }
    // Tokens by model are read after the counts, so they may be a little ahead.
    step.unpricedTokens = Math.max(0, asked - pricedTokens);
    if (pricedTokens > 0 || asked === 0) step.cost = withoutNoise(cost);
  }
}
