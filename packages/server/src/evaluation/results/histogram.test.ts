import { expect, test } from "bun:test";
import { quantile, toHistogram } from "./histogram.ts";

const histogramOf = (values: number[]) => toHistogram(values.map((value) => [value, 1] as const));

// The worked examples of https://en.wikipedia.org/wiki/Percentile#The_nearest-rank_method
test.each([
  [[15, 20, 35, 40, 50], { 0.05: 15, 0.3: 20, 0.4: 20, 0.5: 35, 1: 50 }],
  [[3, 6, 7, 8, 8, 10, 13, 15, 16, 20], { 0.25: 7, 0.5: 8, 0.75: 15, 1: 20 }],
  [[3, 6, 7, 8, 8, 9, 10, 13, 15, 16, 20], { 0.25: 7, 0.5: 9, 0.75: 15, 1: 20 }],
])("the nearest ranks of %p are those of the textbook", (values, quantiles) => {
  const histogram = histogramOf(values);
  for (const [share, value] of Object.entries(quantiles)) {
    expect([share, quantile(histogram, Number(share))]).toEqual([share, value]);
  }
});

test("a share of ten is a whole rank", () => {
  const histogram = histogramOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  for (let rank = 1; rank <= 10; rank++) expect(quantile(histogram, rank / 10)).toBe(rank);
});

test("counts that were taken away again are not there", () => {
  const histogram = toHistogram([
    [0, 2],
    [1000, 1],
    [0, -2],
  ]);
  expect(histogram).toEqual([[1000, 1]]);
  expect(quantile(toHistogram([]), 0.5)).toBeNull();
});
