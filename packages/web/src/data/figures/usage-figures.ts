import type { UsageFailure, UsageRow } from "@presage/sdk";

/** Totals of usage rows. */
export interface UsageFigures {
  requests: number;
  failed: number;
  promptTokens: number;
  completionTokens: number;
  cachedTokens: number;
  /** Null if none of the rows has one. */
  cost: number | null;
  /** Those that the cost leaves out. */
  unpricedTokens: number;
}

export function sumUsage(rows: readonly UsageRow[]): UsageFigures {
  const sum: UsageFigures = {
    requests: 0,
    failed: 0,
    promptTokens: 0,
    completionTokens: 0,
    cachedTokens: 0,
    cost: null,
    unpricedTokens: 0,
  };
  for (const row of rows) {
    sum.requests += row.requests;
    sum.failed += countFailures(row);
    sum.promptTokens += row.prompt_tokens;
    sum.completionTokens += row.completion_tokens;
    sum.cachedTokens += row.cached_tokens;
    if (row.cost !== null) sum.cost = (sum.cost ?? 0) + row.cost;
    sum.unpricedTokens += row.unpriced_tokens;
  }
  return sum;
}

export function countFailures({ failures }: UsageRow): number {
  return Object.values(failures).reduce((sum, count) => sum + count, 0);
}

/** Those that the upstream processed. */
export function countTokens({ promptTokens, completionTokens }: UsageFigures): number {
  return promptTokens + completionTokens;
}

/** Predictions can also be requested as chat completions. */
export function isPrediction({ operation }: UsageRow): boolean {
  return operation === "predict" || operation === "chat";
}

/** Failure reasons, most frequent first. */
export function rankFailures(rows: readonly UsageRow[]): { reason: UsageFailure; count: number }[] {
  const counts = new Map<UsageFailure, number>();
  for (const { failures } of rows) {
    for (const [reason, count] of Object.entries(failures) as [UsageFailure, number][]) {
      counts.set(reason, (counts.get(reason) ?? 0) + count);
    }
  }
  return [...counts].map(([reason, count]) => ({ reason, count })).sort((a, b) => b.count - a.count);
}

/** Rows by the start of their step. */
export function groupByStep<Row extends { start: string }>(rows: readonly Row[]): Map<number, Row[]> {
  return Map.groupBy(rows, ({ start }) => Date.parse(start));
}

/** Null if the whole is 0. */
export function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
