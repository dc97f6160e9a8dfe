import { expect, test } from "bun:test";
import { clipPeaks } from "./clip-peaks.ts";

test("One huge value ends the axis above the others", () => {
  expect(clipPeaks([100, 120, 0, 90, 110, 105, 50_000])).toBe(150);
  expect(clipPeaks([3, 4, 5, 4, 3, 9_000])).toBe(8);
});

test("Values that vary as usual are not clipped", () => {
  expect(clipPeaks([100, 120, 300, 90])).toBeUndefined();
  expect(clipPeaks([])).toBeUndefined();
  expect(clipPeaks([1, 1_000])).toBeUndefined();
  expect(clipPeaks([0, 0, 0, 7])).toBeUndefined();
});
