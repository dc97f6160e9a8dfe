import type { LatencyResponse, Presage, UsageResponse, UsageRow } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { type Period, periodBefore, periodBounds } from "../format/times.ts";

/** A response and the one for the previous period of the same length. */
interface Compared<Data> {
  period: Period;
  current: Data;
  before: Data;
}

export type ComparedUsage = Compared<UsageResponse>;
export type ComparedLatency = Compared<LatencyResponse>;

/** The time range is computed per request, so only the period's name is part of the key. */
export function usageQuery(presage: Presage, period: Period) {
  return queryOptions({
    queryKey: ["usage", period],
    async queryFn({ signal }): Promise<ComparedUsage> {
      const nowMs = Date.now();
      const [current, before] = await Promise.all([
        presage.usage.list(periodBounds(period, nowMs), { signal }),
        presage.usage.list(periodBefore(period, nowMs), { signal }),
      ]);
      return { period, current, before };
    },
  });
}

export function latencyQuery(presage: Presage, period: Period) {
  return queryOptions({
    queryKey: ["usage", "latency", period],
    async queryFn({ signal }): Promise<ComparedLatency> {
      const nowMs = Date.now();
      const [current, before] = await Promise.all([
        presage.usage.latency(periodBounds(period, nowMs), { signal }),
        presage.usage.latency(periodBefore(period, nowMs), { signal }),
      ]);
      return { period, current, before };
    },
  });
}

/** How far back the server keeps usage. */
const maxMs = 400 * 86_400_000;

/** Whether a prediction was made within the longest period that the server accepts. */
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

/** Totals of usage rows. */
export interface UsageFigures {
  requests: number;
  failed: number;
  /** These three are null if the upstream counted none, in any of the rows. */
  promptTokens: number | null;
  completionTokens: number | null;
  cachedTokens: number | null;
  /** Null if none of the rows has one. */
  cost: number | null;
  /** Those that the cost leaves out. */
  unpricedTokens: number;
}

export function sumUsage(rows: readonly UsageRow[]): UsageFigures {
  const sum = { requests: 0, failed: 0, cost: null as number | null, unpricedTokens: 0 };
  const tokens = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
  for (const row of rows) {
    sum.requests += row.requests;
    sum.failed += countFailures(row);
    tokens.promptTokens += row.prompt_tokens ?? 0;
    tokens.completionTokens += row.completion_tokens ?? 0;
    tokens.cachedTokens += row.cached_tokens ?? 0;
    if (row.cost !== null) sum.cost = (sum.cost ?? 0) + row.cost;
    sum.unpricedTokens += row.unpriced_tokens;
  }
  const isCounted =
    countTokens(tokens) + tokens.cachedTokens > 0 || rows.every((row) => row.prompt_tokens !== null);
  return {
    ...sum,
    ...(isCounted ? tokens : { promptTokens: null, completionTokens: null, cachedTokens: null }),
  };
}

export function countFailures({ failures }: UsageRow): number {
  return Object.values(failures).reduce((sum, count) => sum + count, 0);
}

/** Those that the upstream processed. */
function countTokens({
  promptTokens,
  completionTokens,
}: Pick<UsageFigures, "promptTokens" | "completionTokens">): number {
  return (promptTokens ?? 0) + (completionTokens ?? 0);
}

/** Predictions can also be requested as chat completions. */
export function isPrediction({ operation }: UsageRow): boolean {
  return operation === "predict" || operation === "chat";
}

/** Null if the whole is 0. */
export function shareOf(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}
