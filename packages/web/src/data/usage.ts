import type { LatencyResponse, Presage, UsageResponse } from "@presage/sdk";
import { queryOptions } from "@tanstack/react-query";
import { type Period, periodBefore, periodBounds } from "../format/times.ts";
import { isPrediction } from "./figures/usage-figures.ts";

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
