import { expect, test } from "bun:test";
import { holm } from "./differences.ts";

test("what was not tested stays null and corrects nothing", () => {
  expect(holm([0.01, null, 0.04])).toEqual([0.02, null, 0.04]);
  expect(holm([null])).toEqual([null]);
});

test("adjusted p-values keep their order and are at most 1", () => {
  expect(holm([0.6, 0.5, 0.02])).toEqual([1, 1, 0.06]);
});
