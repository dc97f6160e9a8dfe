import { expect, test } from "bun:test";
import {
  type ChartPoint,
  type ChartSeries,
  formatChartValue,
  formatStep,
  formatStepShort,
  highestOf,
  stackBars,
} from "./time-series.ts";

const seriesOf = (shape: ChartSeries["shape"], keys: string[]): ChartSeries[] =>
  keys.map((key) => ({ key, shape, label: "", color: "" }));

const points: ChartPoint[] = [
  { startMs: 1, values: { a: 5, b: 6 } },
  { startMs: 2, values: { a: 5, b: null } },
];

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

test("a missing value is not 0", () => {
  expect(formatChartValue(null, String)).toBe("–");
  expect(formatChartValue(undefined, String)).toBe("–");
  expect(formatChartValue(0, String)).toBe("0");
  expect(formatChartValue([0.25, 0.5], String)).toBe("0.25 – 0.5");
});

test("days are UTC days in every time zone", () => {
  const midnightMs = Date.parse("2026-03-01T00:00:00Z");
  expect(formatStepShort(midnightMs, "day")).toBe("1 Mar");
  expect(formatStep(midnightMs, "day")).toBe("Sun, 1 Mar 2026, UTC");
});

test("hours are in the user’s time zone", () => {
  // Noon in the local time zone.
  const noonMs = new Date(2026, 2, 1, 12).getTime();
  expect(formatStepShort(noonMs, "hour")).toBe("12:00");
  expect(formatStep(noonMs, "hour")).toContain("12:00–13:00");
});
