import { expect, test } from "bun:test";
import { readCompareSearch, readPlace, readRunIds, writePlace } from "./compare-search.ts";

test("Runs are read without repetitions, at most five", () => {
  expect(readRunIds("a,b,,a,c,d,e,f")).toEqual(["a", "b", "c", "d", "e"]);
  expect(readRunIds(undefined)).toEqual([]);
});

test("Invalid values of the address are ignored", () => {
  expect(readCompareSearch({ runs: ["a"], evaluator: "", direction: "sideways", open: "\0" })).toEqual({});
  expect(readCompareSearch({ runs: "a,b", direction: "better", open: 12, with: "b" })).toEqual({
    runs: "a,b",
    direction: "better",
    open: "12",
    with: "b",
  });
});

test("The place of a sample survives the address", () => {
  const place = { trajectory_id: "kitchen/2024/a b", step: 12 };
  expect(readPlace(writePlace(place))).toEqual(place);
  expect(["kitchen", "kitchen/x", "/3", undefined].map(readPlace)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
