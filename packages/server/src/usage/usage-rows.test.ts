import { expect, test } from "bun:test";
import { toUsageRows } from "./usage-rows.ts";
import { addUse, emptyTally, type UsageTally, type Use } from "./usage-totals.ts";

function tallyOf(more: Partial<Use>, hour = 7): UsageTally {
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
  const tally = emptyTally(use, hour);
  addUse(tally, use);
  return tally;
}

test("no session and no failure are empty texts", () => {
  const { counts } = toUsageRows([tallyOf({ keyId: undefined })]);
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
    },
  ]);
});

test("the latencies of all keys of an account are counted together", () => {
  const { latencies } = toUsageRows([tallyOf({}), tallyOf({ keyId: "other" })]);
  expect(latencies.map(({ measure, count }) => [measure, count])).toEqual([
    ["overhead", 2],
    ["total", 2],
  ]);
});

test("rows are in the same order whatever order the requests came in", () => {
  const tallies = [
    tallyOf({}),
    tallyOf({ accountId: "b" }),
    tallyOf({ failure: "timeout", totalMs: 9_000 }),
    tallyOf({ operation: "chat" }, 8),
    tallyOf({ keyId: "a" }, 10),
  ];
  expect(toUsageRows(tallies.toReversed())).toEqual(toUsageRows(tallies));
});
