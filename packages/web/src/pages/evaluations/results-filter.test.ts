import { expect, test } from "bun:test";
import { changeSearch, type ResultsSearch } from "../../parts/results/results-search.ts";
import { activeFilters, exportAddress, noFilters, toResultFilter } from "./results-filter.ts";

test("a verdict is a pass or a fail, or the status of an evaluation without one", () => {
  expect(toResultFilter({ verdict: "pass" })).toEqual({ pass: true });
  expect(toResultFilter({ verdict: "fail" })).toEqual({ pass: false });
  expect(toResultFilter({ verdict: "error" })).toEqual({ status: "failed" });
  expect(toResultFilter({ verdict: "unusable-input" })).toEqual({ status: "validation_error" });
});

test("neither the order nor the open result is a filter, so they do not affect the totals", () => {
  expect(Object.keys(toResultFilter({ order: "oldest", result: "3" }))).toEqual([]);
});

test("tags are split at the first equals sign; values may contain more", () => {
  expect(toResultFilter({ tag: ["kind=x", "formula=a=b"] }).tags).toEqual({ kind: "x", formula: "a=b" });
});

test("an export uses the same filters as query parameters", () => {
  const address = exportAddress(
    { verdict: "fail", run: "a&b", tag: ["kind=x"], min_score: 0, order: "oldest", result: "3" },
    "csv",
  );
  const [path, query] = address.split("?");
  expect(path).toBe("/v1/evaluation-results/export");
  expect(Object.fromEntries(new URLSearchParams(query))).toEqual({
    format: "csv",
    order: "created_at",
    pass: "false",
    score_raw_min: "0",
    evaluation_run_id: "a&b",
    tags: '{"kind":"x"}',
  });
});

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
