import { expect, test } from "bun:test";
import { describeP, formatP, formatPoints } from "./format-difference.ts";

test("Differences are signed points, without a signed zero", () => {
  expect([0.0312, -0.5, 0, -0.0004, null].map(formatPoints)).toEqual(["+3.1", "−50.0", "0.0", "0.0", "–"]);
});

test("Small p-values are bounds", () => {
  expect([0.0004, 0.0123, 1, null].map(formatP)).toEqual(["< 0.001", "0.012", "1.000", "–"]);
  expect([0.0004, 0.0123].map(describeP)).toEqual(["p < 0.001", "p = 0.012"]);
});
