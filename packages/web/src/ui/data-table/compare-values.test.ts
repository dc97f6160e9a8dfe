import { expect, test } from "bun:test";
import { compareValues } from "./columns.ts";

test("numbers are compared by size and texts as people count", () => {
  expect([10, 9, -1].sort(compareValues)).toEqual([-1, 9, 10]);
  expect(["run 10", "Run 2", "run 1"].sort(compareValues)).toEqual(["run 1", "Run 2", "run 10"]);
  expect([true, false].sort(compareValues)).toEqual([false, true]);
});
