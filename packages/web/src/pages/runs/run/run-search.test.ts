import { expect, test } from "bun:test";
import { readRunSearch } from "./run-search.ts";

test("a run’s view is read from the address, and what is invalid is left out", () => {
  const search = { tab: "samples", evaluator: "exact-match-20~system:default~1", measure: "mean" } as const;
  expect(readRunSearch(search)).toEqual(search);
  expect(readRunSearch({ tab: "other", evaluator: 7, measure: "median" })).toEqual({});
});
