import { expect, test } from "bun:test";
import { nearestPlace, placeAfter } from "./plot-frame.tsx";

test("the nearest place is found between, before and after all others", () => {
  const positions = [10, 20, 40];
  expect([0, 14, 16, 29, 31, 99].map((to) => nearestPlace(positions, to))).toEqual([0, 0, 1, 1, 2, 2]);
  expect(nearestPlace([], 5)).toBe(0);
});

test("keys lead from place to place and stop at both ends", () => {
  expect(placeAfter("ArrowRight", -1, 3)).toBe(0);
  expect(placeAfter("ArrowRight", 3, 3)).toBe(3);
  expect(placeAfter("ArrowLeft", -1, 3)).toBe(0);
  expect(placeAfter("PageUp", 1, 30)).toBe(11);
  expect(placeAfter("PageDown", 4, 30)).toBe(0);
  expect(placeAfter("End", 0, 30)).toBe(30);
  expect(placeAfter("a", 0, 30)).toBeUndefined();
});
