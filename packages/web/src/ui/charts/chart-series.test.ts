import { expect, test } from "bun:test";
import {
  type ChartPoint,
  type ChartValue,
  findLonePoints,
  findPeaks,
  formatChartValue,
} from "./chart-series.ts";

function toPoints(values: ChartValue[]): ChartPoint[] {
  return values.map((rate, index) => ({ startMs: index, values: { rate } }));
}

function lonePlaces(values: ChartValue[]): number[] {
  return [...findLonePoints(toPoints(values), "rate")].map(({ startMs }) => startMs);
}

test("a point is isolated if neither neighbour has a value; 0 is a value", () => {
  expect(lonePlaces([1, null, 0, null, 0, 1, null])).toEqual([0, 2]);
  expect(lonePlaces([[0, 1]])).toEqual([0]);
  expect(lonePlaces([1, 1, 1])).toEqual([]);
  expect(lonePlaces([null, null])).toEqual([]);
});

test("a missing value is not 0", () => {
  expect(formatChartValue(null, String)).toBe("–");
  expect(formatChartValue(undefined, String)).toBe("–");
  expect(formatChartValue(0, String)).toBe("0");
  expect(formatChartValue([0.25, 0.5], String)).toBe("0.25 – 0.5");
});

test("Peaks are what is higher than the axis: bars together, lines alone", () => {
  const bar = { label: "", color: "", shape: "bar" as const };
  const points = [
    { startMs: 1, values: { a: 5, b: 6 } },
    { startMs: 2, values: { a: 5, b: null } },
  ];
  const bars = [
    { ...bar, key: "a" },
    { ...bar, key: "b" },
  ];
  expect(findPeaks(points, bars, 10)).toEqual([{ startMs: 1, value: 11, isLate: false }]);
  const lines = bars.map((one) => ({ ...one, shape: "line" as const }));
  expect(findPeaks(points, lines, 5.5)).toEqual([{ startMs: 1, value: 6, isLate: false }]);
});
