import { expect, test } from "bun:test";
import { costOf, type Prices } from "./prices.ts";

const prices: Prices = {
  currency: "USD",
  models: new Map([["org/small", { prompt: 0.15, cached: 0.075, completion: 0.6 }]]),
};

test("prompt and completion have prices per million tokens", () => {
  const tokens = { promptTokens: 2_000_000, completionTokens: 500_000 };
  expect(costOf(prices, "org/small", tokens)).toBeCloseTo(0.6, 12);
  expect(costOf(prices, "org/small", { promptTokens: 0, completionTokens: 0 })).toBe(0);
});

test("the part of a prompt that the upstream had in its cache has its own price", () => {
  const tokens = { promptTokens: 1_000_000, upstreamCachedTokens: 600_000, completionTokens: 0 };
  expect(costOf(prices, "org/small", tokens)).toBeCloseTo(0.06 + 0.045, 12);
  expect(costOf(prices, "org/small", { ...tokens, upstreamCachedTokens: 5_000_000 })).toBeCloseTo(0.075, 12);
});

test("a model that is not in the list under exactly this name has no cost", () => {
  const tokens = { promptTokens: 1, completionTokens: 1 };
  for (const model of [undefined, "", "small", "ORG/small", "org/small-2026"])
    expect(costOf(prices, model, tokens)).toBeNull();
});
