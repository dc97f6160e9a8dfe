import type { Presage, UsageRow } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { type Period, periodBounds } from "../format/times.ts";

/** The time range is computed per request, so only the period's name is part of the key. */
export function usageQuery(presage: Presage, period: Period) {
  return queryOptions({
    queryKey: ["usage", period],
    queryFn: ({ signal }) => presage.usage.list(periodBounds(period, Date.now()), { signal }),
  });
}

export function latencyQuery(presage: Presage, period: Period) {
  return queryOptions({
    queryKey: ["usage", "latency", period],
    queryFn: ({ signal }) => presage.usage.latency(periodBounds(period, Date.now()), { signal }),
  });
}

/** How far back the server keeps usage. */
const maxMs = 400 * 86_400_000;

/** Whether a prediction was made in the longest period that the server accepts. */
export function everPredictedQuery(presage: Presage) {
  return queryOptions({
    queryKey: ["usage", "ever predicted"],
    async queryFn({ signal }) {
      const untilMs = Date.now();
      const since = new Date(untilMs - maxMs).toISOString();
      const { data } = await presage.usage.list(
        { since, until: new Date(untilMs).toISOString() },
        { signal },
      );
      return data.some((row) => isPrediction(row) && row.requests > 0);
    },
  });
}

interface UsageFigures {
  requests: number;
  failed: number;
  /** Null if no row has a cost. */
  cost: number | null;
}

export function sumUsage(rows: readonly UsageRow[]): UsageFigures {
  const sum: UsageFigures = { requests: 0, failed: 0, cost: null };
  for (const row of rows) {
    sum.requests += row.requests;
    sum.failed += countFailures(row);
    if (row.cost !== null) sum.cost = (sum.cost ?? 0) + row.cost;
  }
  return sum;
}

export function countFailures({ failures }: UsageRow): number {
  return Object.values(failures).reduce((sum, count) => sum + count, 0);
}

/** Predictions can also be requested as chat completions. */
export function isPrediction({ operation }: UsageRow): boolean {
  return operation === "predict" || operation === "chat";
}
