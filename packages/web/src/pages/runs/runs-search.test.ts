import { expect, test } from "bun:test";
import type { Run } from "@presage/sdk";
import { parseSearch, stringifySearch } from "../../search-params.ts";
import { findRuns } from "./list/runs-page.tsx";
import { type MatrixSearch, readMatrixSearch, readRunSearch, readRunsSearch } from "./runs-search.ts";

test("filters are read from the address, and what is invalid is left out", () => {
  expect(
    readRunsSearch({ q: 404, status: "paused", mode: "free-running", dataset: "d", selected: "a,b" }),
  ).toEqual({
    q: "404",
    status: "paused",
    mode: "free-running",
    dataset: "d",
    selected: "a,b",
  });
  expect(readRunsSearch({ q: ["a"], status: "done", mode: 3, dataset: 4, selected: "" })).toEqual({});
});

test("runs are found by name, target and tag, all words at once", () => {
  const run = (name: string, rest: Partial<Run>) =>
    ({ name, id: name, status: "finished", mode: "teacher-forced", tags: null, ...rest }) as Run;
  const runs = [
    run("one", { target: { baseline: "no-change" }, dataset_id: "d" }),
    run("two", { target: { deployment: "default", model: "seven" }, tags: { team: "blue" } }),
  ];
  const found = (search: Parameters<typeof findRuns>[1]) => findRuns(runs, search).map(({ name }) => name);
  expect(found({ q: "SEVEN team=blue" })).toEqual(["two"]);
  expect(found({ q: "no-change" })).toEqual(["one"]);
  expect(found({ dataset: "d" })).toEqual(["one"]);
  expect(found({ status: "running" })).toEqual([]);
});

test("a run’s view is read from the address, and what is invalid is left out", () => {
  const search = { tab: "samples", evaluator: "exact-match-20~system:default~1", measure: "mean" } as const;
  expect(readRunSearch(search)).toEqual(search);
  expect(readRunSearch({ tab: "other", evaluator: 7, measure: "median" })).toEqual({});
});

test("all parameters round-trip through the URL", () => {
  const whole: Required<MatrixSearch> = {
    judge: 1,
    verdict: "fail",
    recorded: "unchanged",
    failed: true,
    trajectory: "404",
    at: 3,
    sample: "true",
    repeat: 2,
    sort: "-e1",
    columns: "e0,e1",
  };
  expect(readMatrixSearch(parseSearch(stringifySearch({ ...whole })))).toEqual(whole);
});

test("invalid values are ignored", () => {
  const search = {
    judge: -1,
    verdict: "maybe",
    recorded: "x",
    failed: false,
    trajectory: "a\0",
    at: 1.5,
    sample: "",
    repeat: 0,
    sort: "a b",
  };
  expect(readMatrixSearch(search)).toEqual({});
});
