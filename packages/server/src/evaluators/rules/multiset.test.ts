import { expect, test } from "bun:test";
import { countItems, overlapOf, sizeOf, subtract } from "./text.ts";

const one = countItems(["a", "a", "b", "__proto__"]);
const other = countItems(["a", "b", "b", "c"]);

test("items are counted, also those that have names of object properties", () => {
  expect([...one]).toEqual([
    ["a", 2],
    ["b", 1],
    ["__proto__", 1],
  ]);
  expect(sizeOf(one)).toBe(4);
});

test("what two have in common is clipped by the smaller count", () => {
  expect(overlapOf(one, other)).toBe(2);
  expect(overlapOf(other, one)).toBe(2);
});

test("what the other lacks is left as often as it lacks it", () => {
  expect([...subtract(one, other)]).toEqual([
    ["a", 1],
    ["__proto__", 1],
  ]);
  expect([...subtract(other, one)]).toEqual([
    ["b", 1],
    ["c", 1],
  ]);
});
