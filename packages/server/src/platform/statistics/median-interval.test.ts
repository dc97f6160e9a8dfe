import { expect, test } from "bun:test";
import { atRank, medianInterval, toHistogram } from "./intervals.ts";

const ranks = (count: number) => toHistogram(Array.from({ length: count }, (_, at) => [at + 1, 1] as const));

test("the interval of a hundred values is from the 40th to the 61st", () => {
  // M. J. Campbell and M. J. Gardner, "Calculating confidence intervals for some non-parametric analyses", BMJ 296 (1988).
  expect(medianInterval(ranks(100))).toEqual({ lower: 40, median: 50.5, upper: 61 });
});

test("six values are the fewest with an interval, from the least to the greatest", () => {
  expect(medianInterval(ranks(6))).toEqual({ lower: 1, median: 3.5, upper: 6 });
  expect(medianInterval(ranks(5))).toEqual({ lower: null, median: 3, upper: null });
  expect(medianInterval(ranks(0))).toEqual({ lower: null, median: null, upper: null });
});

test("values whose counts sum to zero are left out", () => {
  const histogram = toHistogram([
    [0, 2],
    [1000, 1],
    [0, -2],
  ]);
  expect(histogram).toEqual([[1000, 1]]);
});

test("a rank has the value at that place in order, and a rank beyond the last has none", () => {
  const histogram = toHistogram([
    [20, 2],
    [10, 1],
  ]);
  expect([1, 2, 3, 4].map((rank) => atRank(histogram, rank))).toEqual([10, 20, 20, null]);
});
