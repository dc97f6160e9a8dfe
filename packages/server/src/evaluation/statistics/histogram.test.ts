import { expect, test } from "bun:test";
import { atRank, toHistogram } from "./histogram.ts";

test("counts that were taken away again are not there", () => {
  const histogram = toHistogram([
    [0, 2],
    [1000, 1],
    [0, -2],
  ]);
  expect(histogram).toEqual([[1000, 1]]);
});

test("a rank has the value that stands there in order, and one beyond the last has none", () => {
  const histogram = toHistogram([
    [20, 2],
    [10, 1],
  ]);
  expect([1, 2, 3, 4].map((rank) => atRank(histogram, rank))).toEqual([10, 20, 20, null]);
});
