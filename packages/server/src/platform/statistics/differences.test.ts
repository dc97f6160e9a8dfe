import { expect, test } from "bun:test";
import { detectableDifference, holm } from "./differences.ts";

const nothing = { minDetectable: null, trajectoriesFor1Point: null };

test("differences that do not vary, and fewer than two clusters, do not show what could be detected", () => {
  expect(detectableDifference([])).toEqual(nothing);
  expect(detectableDifference([{ count: 5, sum: 1 }])).toEqual(nothing);
  expect(detectableDifference(Array(9).fill({ count: 5, sum: 1 }))).toEqual(nothing);
});

test("a test needs at least two trajectories", () => {
  const clusters = Array.from({ length: 100 }, (_, index) => ({ count: 10, sum: (index % 2) / 1000 }));
  expect(detectableDifference(clusters).trajectoriesFor1Point).toBe(2);
});

test("what was not tested stays null and corrects nothing", () => {
  expect(holm([0.01, null, 0.04])).toEqual([0.02, null, 0.04]);
  expect(holm([null])).toEqual([null]);
});

test("adjusted p-values keep their order and are at most 1", () => {
  expect(holm([0.6, 0.5, 0.02])).toEqual([1, 1, 0.06]);
});
