import { expect, test } from "bun:test";
import { changeSearch, type ResultsSearch } from "../../../parts/results-search.ts";
import { activeFilters, noFilters } from "./filter-labels.ts";

const search: ResultsSearch = {
  verdict: "unusable-input",
  min_score: 0,
  tag: ["a=b", "c=d"],
  before: "9",
  order: "oldest",
  result: "3",
};

test("each filter is listed once, and each tag separately", () => {
  expect(activeFilters(search).map(({ name, value }) => `${name}: ${value}`)).toEqual([
    "Verdict: Unusable input",
    "Score at least: 0",
    "Tag: a=b",
    "Tag: c=d",
    "ID below: 9",
  ]);
});

test("removing a filter keeps the others", () => {
  const tag = activeFilters(search).find(({ value }) => value === "a=b");
  expect(changeSearch(search, tag?.removal ?? {})).toEqual({ ...search, tag: ["c=d"] });
});

test("clearing keeps the order and the open result", () => {
  expect(changeSearch(search, noFilters(search))).toEqual({ order: "oldest", result: "3" });
});
