import { LatencyQuery, type LatencyResponse, UsageQuery, type UsageResponse } from "@presage/contract";
import type { Services } from "../app/services.ts";
import { readKnownQuery } from "../http/read-request.ts";
import { requesterOf } from "../http/requester-of.ts";
import { reserveResponse } from "../http/reserve-memory.ts";
import { type Route, withCaller } from "../http/route.ts";
import { shownTokens } from "../platform/storage/answer-columns.ts";
import { toIsoInstant } from "../platform/storage/micros.ts";
import { type LatencyFigures, type LatencyReport, readLatency } from "./read-latency.ts";
import { readUsage, type UsageReport } from "./read-usage.ts";
import { microsPerHour, type RequestedPeriod, readUsagePeriod, refusePeriod } from "./read-usage-period.ts";

/** Approximate size of a row in a response. */
const bytesPerRow = 240;
const tooManyRows = "Too many rows; use a shorter period, step=day or one key";

export function usageRoutes({ store, prices }: Services): Route[] {
  return [
    withCaller("GET", "/v1/usage", "read", async (call) => {
      const query = readKnownQuery(call, UsageQuery);
      const period = readUsagePeriod(query);
      const list = prices.current();
      const keyId = query.api_key_id?.toLowerCase();
      const report = await readUsage(store, requesterOf(call), period, keyId, list);
      if (report === undefined) refusePeriod(query, tooManyRows);
      reserveResponse(call.exchange, report.steps.length * bytesPerRow);
      return Response.json(toUsageResponse(period, report, list?.currency));
    }),
    withCaller("GET", "/v1/usage/latency", "read", async (call) => {
      const query = readKnownQuery(call, LatencyQuery);
      const period = readUsagePeriod(query);
      const report = await readLatency(store, requesterOf(call), period);
      return Response.json(toLatencyResponse(period, report));
    }),
  ];
}

function toUsageResponse(
  period: RequestedPeriod,
  { steps, keys }: UsageReport,
  currency: string | undefined,
): UsageResponse {
  return {
    ...toPeriod(period),
    currency: currency ?? null,
    data: steps.map(
      ({
        startHour,
        keyId,
        operation,
        requests,
        failures,
        promptTokens,
        completionTokens,
        cachedTokens,
        cost,
        unpricedTokens,
      }) => ({
        start: toIsoHour(startHour),
        api_key_id: keyId ?? null,
        operation,
        requests,
        failures,
        ...shownTokens(
          { prompt_tokens: promptTokens, completion_tokens: completionTokens, cached_tokens: cachedTokens },
          operation !== "evaluate" &&
            requests > Object.values(failures).reduce((sum, count) => sum + count, 0),
        ),
        cost,
        unpriced_tokens: unpricedTokens,
      }),
    ),
    api_keys: keys.map(({ revoked_at, ...key }) => ({
      ...key,
      revoked_at: revoked_at === null ? null : toIsoInstant(revoked_at),
    })),
  };
}

function toLatencyResponse(period: RequestedPeriod, { overall, steps }: LatencyReport): LatencyResponse {
  return {
    ...toPeriod(period),
    overall: toLatency(overall),
    data: steps.map(({ startHour, ...figures }) => ({ start: toIsoHour(startHour), ...toLatency(figures) })),
  };
}

function toPeriod({ fromHour, until, step }: RequestedPeriod) {
  return { since: toIsoHour(fromHour), until: toIsoInstant(until), step };
}

function toLatency({ count, totalMs, overheadMs }: LatencyFigures) {
  return { count, total_ms: totalMs ?? null, overhead_ms: overheadMs ?? null };
}

function toIsoHour(hour: number): string {
  return toIsoInstant(hour * microsPerHour);
}
