import { expect, test } from "bun:test";
import { readEvaluatorsSearch } from "./evaluators-search.ts";

test("what was searched for stands in the address bar, numbers and truth values too", () => {
  expect(readEvaluatorsSearch({ q: "judge", archived: true })).toEqual({ q: "judge", archived: true });
  expect(readEvaluatorsSearch({ q: 404 })).toEqual({ q: "404" });
  expect(readEvaluatorsSearch({ q: true })).toEqual({ q: "true" });
});

test("what makes no sense is passed over", () => {
  expect(readEvaluatorsSearch({ q: "", archived: "perhaps", page: 3 })).toEqual({});
  expect(readEvaluatorsSearch({ q: ["a"] })).toEqual({});
});
