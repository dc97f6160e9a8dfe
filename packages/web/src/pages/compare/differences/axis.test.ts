import { expect, test } from "bun:test";
import { axisOf } from "./axis.ts";

test("The axis has zero on it and ends at round values", () => {
  const { lower, upper, ticks } = axisOf([{ lower: -0.75, upper: -0.63 }]);
  expect([lower, upper]).toEqual([-0.8, 0]);
  expect(ticks.map((tick) => Number(tick.toFixed(3)))).toEqual([-0.8, -0.6, -0.4, -0.2, 0]);
});

test("Without differences there is still an axis", () => {
  const { lower, upper } = axisOf([]);
  expect(upper).toBeGreaterThan(lower);
});
