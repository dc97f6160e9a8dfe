import { expect, test } from "bun:test";
import type { ChartPoint, ChartSeries } from "../chart-series.ts";
import { findPeaks, highestOf, stackBars } from "./heights.ts";

const seriesOf = (shape: ChartSeries["shape"], keys: string[]): ChartSeries[] =>
  keys.map((key) => ({ key, shape, label: "", color: "" }));

const points: ChartPoint[] = [
  { startMs: 1, values: { a: 5, b: 6 } },
  { startMs: 2, values: { a: 5, b: null } },
];

test("peaks are what is higher than the axis: bars together, lines alone", () => {
  expect(findPeaks(points, seriesOf("bar", ["a", "b"]), 10)).toEqual([{ index: 0, value: 11 }]);
  expect(findPeaks(points, seriesOf("line", ["a", "b"]), 5.5)).toEqual([{ index: 0, value: 6 }]);
  expect(findPeaks(points, seriesOf("bar", ["a", "b"]), 11)).toEqual([]);
});

test("the highest value is that of a stack, of a line or of the upper end of a band", () => {
  expect(highestOf(points, seriesOf("bar", ["a", "b"]))).toBe(11);
  expect(highestOf(points, seriesOf("line", ["a", "b"]))).toBe(6);
  expect(highestOf([{ startMs: 1, values: { a: [1, 3], b: null } }], seriesOf("band", ["a", "b"]))).toBe(3);
  expect(highestOf([], seriesOf("bar", ["a"]))).toBe(0);
});

test("bars are stacked in their order, without those of nothing", () => {
  const stacks = stackBars(points, seriesOf("bar", ["a", "b"]), 20);
  expect(stacks.get("a")).toEqual([
    { index: 0, from: 0, to: 5 },
    { index: 1, from: 0, to: 5 },
  ]);
  expect(stacks.get("b")).toEqual([{ index: 0, from: 5, to: 11 }]);
});

test("bars end where the axis does, and what begins above it is not drawn", () => {
  expect(stackBars(points, seriesOf("bar", ["a", "b"]), 8).get("b")).toEqual([{ index: 0, from: 5, to: 8 }]);
  expect(stackBars(points, seriesOf("bar", ["a", "b"]), 4).get("b")).toEqual([]);
});
