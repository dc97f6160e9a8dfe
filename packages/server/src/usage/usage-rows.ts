import type { LatencyMeasure, UsageCountsTable, UsageLatenciesTable } from "../storage/schema/usage.ts";
import type { BucketCounts, UsageTally } from "./usage-totals.ts";

/** What tallies add to the store, in one order everywhere, so that two processes cannot wait for each other. */
export function toUsageRows(tallies: readonly UsageTally[]): {
  counts: UsageCountsTable[];
  latencies: UsageLatenciesTable[];
} {
  return { counts: inOrder(tallies.map(toCounts)), latencies: inOrder(addUpLatencies(tallies)) };
}

function toCounts(tally: UsageTally): UsageCountsTable {
  return {
    account_id: tally.accountId,
    hour: tally.hour,
    key_id: tally.keyId ?? "",
    operation: tally.operation,
    outcome: tally.failure ?? "",
    requests: tally.requests,
    prompt_tokens: tally.promptTokens,
    completion_tokens: tally.completionTokens,
  };
}

/** The latencies of all keys of an account together. */
function addUpLatencies(tallies: readonly UsageTally[]): UsageLatenciesTable[] {
  const rows = new Map<string, UsageLatenciesTable>();

  function add({ accountId, hour }: UsageTally, measure: LatencyMeasure, buckets: BucketCounts): void {
    for (const [bucket, count] of buckets) {
      const name = `${accountId} ${hour} ${measure} ${bucket}`;
      const row = rows.get(name);
      if (row !== undefined) row.count += count;
      else rows.set(name, { account_id: accountId, hour, measure, bucket, count });
    }
  }

  for (const tally of tallies) {
    add(tally, "total", tally.totals);
    add(tally, "overhead", tally.overheads);
  }
  return [...rows.values()];
}

/** By all columns, the key's first. */
function inOrder<Row extends object>(rows: readonly Row[]): Row[] {
  const named = rows.map((row) => ({ row, name: Object.values(row).join(" ") }));
  return named.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ row }) => row);
}
