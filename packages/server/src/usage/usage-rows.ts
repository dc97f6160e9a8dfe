import type { LatencyMeasure, UsageCountsTable, UsageLatenciesTable } from "../storage/schema/usage.ts";
import type { BucketCounts, UsageTotals } from "./usage-totals.ts";

/** The rows that totals add to, in the same order in every process, so that no two can deadlock. */
export function toUsageRows(allTotals: readonly UsageTotals[]): {
  counts: UsageCountsTable[];
  latencies: UsageLatenciesTable[];
} {
  return { counts: sorted(allTotals.map(toCounts)), latencies: sorted(sumLatencies(allTotals)) };
}

function toCounts(totals: UsageTotals): UsageCountsTable {
  return {
    account_id: totals.accountId,
    hour: totals.hour,
    key_id: totals.keyId ?? "",
    operation: totals.operation,
    outcome: totals.failure ?? "",
    requests: totals.requests,
    prompt_tokens: totals.promptTokens,
    completion_tokens: totals.completionTokens,
    cached_tokens: totals.cachedTokens,
  };
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
