import { expect, test } from "bun:test";
import { type CurvePoint, curvePaths, placesOf, pointAt } from "./curve.ts";

const same = (value: number) => value;
const point = (x: number, value: number | null, lower?: number, upper?: number): CurvePoint => ({
  x,
  value,
  lower,
  upper,
});

test("a missing value leaves a gap, and a point beside gaps is alone", () => {
  const points = [point(0, 1), point(1, 2), point(2, null), point(3, 4), point(4, null)];
  const { line, lone } = curvePaths(points, "line", same, same);
  expect(line).toBe("M0.0,1.0L1.0,2.0M3.0,4.0");
  expect(lone).toEqual([point(3, 4)]);
});

test("a step keeps its value until the next", () => {
  expect(curvePaths([point(0, 1), point(2, 0.5)], "step", same, same).line).toBe("M0.0,1.0L2.0,1.0L2.0,0.5");
});

test("a band is there only where there is an interval", () => {
  const { band, sure } = curvePaths([point(0, 1, 0, 2), point(1, 1, 0, 3), point(2, 1)], "line", same, same);
  expect(band).toBe("M0.0,2.0L1.0,3.0L1.0,0.0L0.0,0.0Z");
  expect(sure).toBe("M0.0,1.0L1.0,1.0");
});

test("between two points a step curve has the value of the earlier, and none after its end", () => {
  const series = { key: "a", label: "A", points: [point(0, 1), point(4, 0.5)] };
  expect(pointAt(series, 3, "step")?.value).toBe(1);
  expect(pointAt(series, 4, "step")?.value).toBe(0.5);
  expect(pointAt(series, 5, "step")).toBeUndefined();
  expect(pointAt(series, 3, "line")).toBeUndefined();
  expect(placesOf([series, { ...series, points: [point(2, 0)] }])).toEqual([0, 2, 4]);
});

test("a step keeps its interval until the next point, even if that one has none", () => {
  const { band } = curvePaths([point(0, 1), point(1, 0.5, 0, 1), point(3, 0)], "step", same, same);
  expect(band).toBe("M1.0,1.0L3.0,1.0L3.0,1.0L3.0,0.0L3.0,0.0L1.0,0.0Z");
});
