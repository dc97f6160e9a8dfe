import { expect, test } from "bun:test";
import { countValues, toCountable } from "./result-values.ts";

test("a facet's own filters do not hide its other values", () => {
  const filter = { app: "shop", evaluator_id: "rouge-l-2026-11-21", pass: true };
  expect(toCountable(filter, ["app"])).toEqual({
    request: { evaluator_id: "rouge-l-2026-11-21", pass: true },
    isComplete: true,
  });
});

test("what has no counts is left out, and known to be", () => {
  expect(toCountable({ app: "shop", score_raw_min: 0.5 }, [])).toEqual({
    request: { app: "shop", status: "success" },
    isComplete: false,
  });
});

test("revisions of one profile are one value, and the commonest is first", () => {
  const found = [
    { value: "strict", count: 2 },
    { value: "kind", count: 4 },
    { value: "strict", count: 3 },
    { value: null, count: 9 },
  ];
  expect(countValues(found)).toEqual([
    { value: "strict", count: 5 },
    { value: "kind", count: 4 },
  ]);
});
