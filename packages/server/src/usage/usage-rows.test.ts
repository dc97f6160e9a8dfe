import { expect, test } from "bun:test";
import type { Use } from "../http/exchange.ts";
import { addUse, emptyTotals, type UsageTotals } from "./collect-usage.ts";
import { toUsageRows } from "./usage-store.ts";

function totalsOf(more: Partial<Use>, hour = 7): UsageTotals {
  const use: Use = {
    accountId: "account",
    keyId: "key",
    operation: "predict",
    failure: undefined,
    promptTokens: 2,
    completionTokens: 1,
    totalMs: 30,
    upstreamMs: 20,
    ...more,
  };
  const totals = emptyTotals(use, hour);
  addUse(totals, use);
  return totals;
}

test("a missing key and a missing failure are empty texts", () => {
  const { counts } = toUsageRows([totalsOf({ keyId: undefined })]);
  expect(counts).toEqual([
    {
      account_id: "account",
      hour: 7,
      key_id: "",
      operation: "predict",
      outcome: "",
      requests: 1,
      prompt_tokens: 2,
      completion_tokens: 1,
      cached_tokens: 0,
      example_tokens: 0,
    },
  ]);
});

test("tokens are counted by model as well, whatever became of the requests", () => {
  const { counts, modelTokens } = toUsageRows([
    totalsOf({ model: "a", upstreamCachedTokens: 1 }),
    totalsOf({ model: "a", failure: "timeout" }),
    totalsOf({ model: "b" }),
    totalsOf({ model: "b", promptTokens: 0, completionTokens: 0, operation: "chat" }),
    totalsOf({}),
  ]);
  expect(counts.map(({ operation, outcome, requests }) => [operation, outcome, requests])).toEqual([
    ["chat", "", 1],
    ["predict", "", 3],
    ["predict", "timeout", 1],
  ]);
  const row = { account_id: "account", hour: 7, key_id: "key", operation: "predict" as const };
  expect(modelTokens).toEqual([
    { ...row, model: "a", prompt_tokens: 4, completion_tokens: 2, upstream_cached_tokens: 1 },
    { ...row, model: "b", prompt_tokens: 2, completion_tokens: 1, upstream_cached_tokens: 0 },
  ]);
});

test("latencies of all keys of an account are counted together", () => {
  const { latencies } = toUsageRows([totalsOf({}), totalsOf({ keyId: "other" })]);
  expect(latencies.map(({ measure, count }) => [measure, count])).toEqual([
    ["overhead", 2],
    ["total", 2],
  ]);
});

test("rows have the same order for any order of requests", () => {
  const allTotals = [
    totalsOf({}),
    totalsOf({ accountId: "b" }),
    totalsOf({ failure: "timeout", totalMs: 9_000 }),
    totalsOf({ operation: "chat" }, 8),
    totalsOf({ model: "b" }),
    totalsOf({ model: "a" }),
    totalsOf({ keyId: "a" }, 10),
  ];
  expect(toUsageRows(allTotals.toReversed())).toEqual(toUsageRows(allTotals));
});
