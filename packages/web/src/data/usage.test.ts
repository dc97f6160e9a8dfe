import { expect, test } from "bun:test";
import type { UsageRow } from "@presage/sdk";
import { isPrediction, sumUsage } from "./usage.ts";

const rows: UsageRow[] = [
  {
    start: "2026-03-01T00:00:00.000Z",
    api_key_id: "k1",
    operation: "predict",
    requests: 10,
    failures: { timeout: 2, invalid: 1 },
    prompt_tokens: 100,
    completion_tokens: 20,
    cached_tokens: 20,
    example_tokens: 0,
    cost: null,
    unpriced_tokens: 0,
  },
  {
    start: "2026-03-01T00:00:00Z",
    api_key_id: null,
    operation: "chat",
    requests: 5,
    failures: { invalid: 3 },
    prompt_tokens: 1,
    completion_tokens: 2,
    cached_tokens: 2,
    example_tokens: 0,
    cost: null,
    unpriced_tokens: 0,
  },
  {
    start: "2026-03-02T00:00:00Z",
    api_key_id: "k1",
    operation: "evaluate",
    requests: 7,
    failures: {},
    prompt_tokens: 0,
    completion_tokens: 0,
    cached_tokens: 0,
    example_tokens: 0,
    cost: 0,
    unpriced_tokens: 0,
  },
  {
    start: "2026-03-02T00:00:00Z",
    api_key_id: "k1",
    operation: "judge",
    requests: 3,
    failures: {},
    prompt_tokens: 30,
    completion_tokens: 3,
    cached_tokens: 0,
    example_tokens: 0,
    cost: 0.25,
    unpriced_tokens: 11,
  },
];

test("requests and failures are added up", () => {
  expect(sumUsage(rows)).toEqual({ requests: 25, failed: 6, cost: 0.25 });
  expect(sumUsage([])).toEqual({ requests: 0, failed: 0, cost: null });
});

test("usage without prices has no cost, which is not a cost of 0", () => {
  expect(sumUsage(rows.slice(0, 2)).cost).toBeNull();
  expect(sumUsage(rows.slice(2, 3)).cost).toBe(0);
});

test("chat completions are predictions, evaluations and calls to judges are not", () => {
  expect(rows.filter(isPrediction).map(({ operation }) => operation)).toEqual(["predict", "chat"]);
});
