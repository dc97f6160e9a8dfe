import { expect, test } from "bun:test";
import { readEvaluatorsSearch, readProfileSearch } from "./evaluators-search.ts";

test("search words are read from the URL, including numbers and booleans", () => {
  expect(readEvaluatorsSearch({ q: "judge", archived: true })).toEqual({ q: "judge", archived: true });
  expect(readEvaluatorsSearch({ q: 404 })).toEqual({ q: "404" });
  expect(readEvaluatorsSearch({ q: true })).toEqual({ q: "true" });
});

test("invalid parameters are ignored", () => {
  expect(readEvaluatorsSearch({ q: "", archived: "perhaps", page: 3 })).toEqual({});
  expect(readEvaluatorsSearch({ q: ["a"] })).toEqual({});
});

test("the revisions to compare are read from the URL", () => {
  expect(readProfileSearch({ from: 1, to: 3 })).toEqual({ from: 1, to: 3 });
});

test("invalid revisions are ignored", () => {
  expect(readProfileSearch({ from: 0, to: "two" })).toEqual({});
  expect(readProfileSearch({ to: 1.5 })).toEqual({});
});
