import { expect, test } from "bun:test";
import { toHistogram } from "./histogram.ts";
import { medianInterval } from "./median-interval.ts";

const ranks = (count: number) => toHistogram(Array.from({ length: count }, (_, at) => [at + 1, 1] as const));

test("of a hundred values the 40th and the 61st are the interval", () => {
  // M. J. Campbell and M. J. Gardner, «Calculating confidence intervals for some non-parametric analyses», BMJ 296 (1988).
  expect(medianInterval(ranks(100))).toEqual({ lower: 40, median: 50.5, upper: 61 });
});

test("six values are the fewest that have one, from the least to the greatest", () => {
  expect(medianInterval(ranks(6))).toEqual({ lower: 1, median: 3.5, upper: 6 });
  expect(medianInterval(ranks(5))).toEqual({ lower: null, median: 3, upper: null });
  expect(medianInterval(ranks(0))).toEqual({ lower: null, median: null, upper: null });
});
