import type {
  LatencyMeasure,
  UsageCountsTable,
  UsageLatenciesTable,
  UsageModelTokensTable,
} from "../platform/storage/schema/usage.ts";
import type { BucketCounts, UsageTotals } from "./usage-totals.ts";

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
