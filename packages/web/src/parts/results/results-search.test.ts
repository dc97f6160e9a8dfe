import { expect, test } from "bun:test";
import { parseSearch, stringifySearch } from "../../search-params.ts";
import { changeSearch, type ResultsSearch, readResultsSearch } from "./results-search.ts";

const whole: Required<ResultsSearch> = {
  verdict: "error",
  app: "404",
  evaluator: "exact-match",
  family: "exact-match",
  profile: "strict",
  profile_id: "0190c1f4-0000-7000-8000-000000000000",
  revision: 2,
  min_score: 0.25,
  max_score: 1,
  tag: ["environment=sciworld", "formula=a=b"],
  dataset: "d",
  sample: "007",
  run: "nightly 7",
  direct: true,
  explain: "on-fail",
  since: "2026-11-21T06:30:00Z",
  until: "2026-11-22T06:30:00.123Z",
  after: "10",
  before: "99",
  view: "samples",
  sort: "-exact-match~mine",
  order: "oldest",
  result: "42",
  columns: "verdict,when",
};

test("all parameters round-trip through the URL", () => {
  expect(readResultsSearch(parseSearch(stringifySearch({ ...whole })))).toEqual(whole);
});

test("a result has one value of a tag, so the last one counts", () => {
  expect(readResultsSearch({ tag: ["a=1", "b=1", "a=2"] }).tag).toEqual(["a=2", "b=1"]);
});

test("invalid values are ignored", () => {
  const search = {
    verdict: "maybe",
    app: "",
    run: "a\0b",
    dataset: "\ud800",
    min_score: "2",
    max_score: "none",
    tag: ["no-value", "=x", { a: 1 }],
    explain: "sometimes",
    since: "yesterday",
    after: "-1",
    before: "1.5",
    order: "random",
    result: "12; drop table",
    unknown: "x",
  };
  expect(readResultsSearch(search)).toEqual({});
});

test("a single tag becomes a list, and duplicate tags are removed", () => {
  expect(readResultsSearch({ tag: "a=b" }).tag).toEqual(["a=b"]);
  expect(readResultsSearch({ tag: ["a=b", "a=b"] }).tag).toEqual(["a=b"]);
});

test("a time in another zone is the same instant", () => {
  expect(readResultsSearch({ since: "2026-11-21T08:30:00+02:00" }).since).toBe("2026-11-21T06:30:00Z");
});

test("a change keeps the other values, and undefined removes a value", () => {
  expect(changeSearch({ app: "a", run: "r" }, { run: undefined, verdict: "fail" })).toEqual({
    app: "a",
    verdict: "fail",
  });
});
