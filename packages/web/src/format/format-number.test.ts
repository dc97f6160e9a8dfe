import { expect, test } from "bun:test";
import { formatCost, formatDuration } from "./format-number.ts";

test.each([
  [0, "0 µs"],
  [0.84, "840 µs"],
  [0.9996, "1.0 ms"],
  [12.44, "12.4 ms"],
  [99.96, "100 ms"],
  [999.6, "1.00 s"],
  [1_234, "1.23 s"],
  [130_000, "130.0 s"],
])("%d ms is %s", (milliseconds, words) => {
  expect(formatDuration(milliseconds)).toBe(words);
});

test.each([
  [null, "USD", "–"],
  [0, "USD", "$0.00"],
  [0.000421, "USD", "$0.00042"],
  [0.00999, "USD", "$0.01"],
  [12.345, "USD", "$12.35"],
  [1_234.5, "EUR", "€1,234.50"],
  [1_234.5, "JPY", "¥1,235"],
])("%p in %s is %s", (cost, currency, words) => {
  expect(formatCost(cost, currency)).toBe(words);
});
