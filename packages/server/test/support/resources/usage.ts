import { expect } from "bun:test";
import { LatencyResponse, UsageResponse, type UsageRow } from "@presage/contract";
import type { Use } from "../../../src/http/exchange.ts";
import { addUse, emptyTotals, type UsageTotals } from "../../../src/usage/collect-usage.ts";
import { callWithKey, type TestPresage } from "../presage/presage.ts";

type Headers = Record<string, string>;
type Query = Record<string, string>;

/** Reads usage by calls that must succeed. */
export function usageClient(presage: () => Pick<TestPresage, "url">) {
  async function get(path: string, query: Query, headers?: Headers): Promise<unknown> {
    const target = `${path}?${new URLSearchParams(query)}`;
    const response = await callWithKey(presage().url, "GET", target, undefined, headers);
    expect(response.status).toBe(200);
    return await response.json();
  }
  return {
    list: async (query: Query = {}, headers?: Headers) =>
      UsageResponse.parse(await get("/v1/usage", query, headers)),
    latency: async (query: Query = {}, headers?: Headers) =>
      LatencyResponse.parse(await get("/v1/usage/latency", query, headers)),
  };
}

export function requestsIn(rows: readonly UsageRow[]): number {
  return rows.reduce((sum, { requests }) => sum + requests, 0);
}

const someUse: Use = {
  accountId: "",
  keyId: undefined,
  operation: "predict",
  failure: undefined,
  promptTokens: 0,
  completionTokens: 0,
  totalMs: 0,
  upstreamMs: undefined,
};

/** The usage of some requests at one time. */
export function totalsOf(at: Date, ...uses: Partial<Use>[]): UsageTotals {
  const totals = emptyTotals({ ...someUse, ...uses[0] }, Math.floor(at.getTime() / 3_600_000));
  for (const use of uses) addUse(totals, { ...someUse, ...use });
  return totals;
}
