import { expect, test } from "bun:test";
import type { ResultRow } from "../../data/results.ts";
import {
  groupBySample,
  judgeColumnId,
  readSampleSort,
  resultsOf,
  sampleColumns,
  sortOf,
  withEvaluators,
  writeSampleSort,
} from "./sample-columns.tsx";

const row = (id: string, sample: string | number, more: Partial<ResultRow> = {}): ResultRow => ({
  id,
  app: "app",
  gold: null,
  created_at: "2026-11-22T00:00:00Z",
  dataset_id: "d",
  dataset_sample_id: sample,
  error_message: null,
  evaluation_run_id: null,
  evaluator_id: "e",
  evaluator_profile_revision: 1,
  pass: true,
  profile_name: "p",
  score_raw: 1,
  status: "success",
  corrected: null,
  excerpt: null,
  ...more,
});

test("results about the same sample of a dataset and a run are one row", () => {
  const results = [
    row("1", 7),
    row("2", "7", { evaluator_id: "f" }),
    row("3", 7, { dataset_id: "other" }),
    row("4", 7, { evaluation_run_id: "r" }),
    row("5", 7, { pass: false }),
    row("6", 8),
  ];
  const rows = groupBySample(results);
  expect(rows.map(({ id, results }) => [id, results.map((one) => one.id)])).toEqual([
    ["1", ["1", "2", "5"]],
    ["3", ["3"]],
    ["4", ["4"]],
    ["6", ["6"]],
  ]);
  const judge = { evaluator: "e", profile: "p" };
  expect(rows.slice(0, 1).flatMap((one) => resultsOf(one, judge).map(({ id }) => id))).toEqual(["5", "1"]);
  expect(rows.slice(0, 1).flatMap((one) => resultsOf(one, { ...judge, profile: "q" }))).toEqual([]);
});

const exact = { evaluator: "exact-match-2026-01-01", profile: null, count: 9 };
const rouge = { evaluator: "rouge-l-2026-01-01", profile: "close ~ enough", count: 8 };
const judges = [exact, rouge];
const idOfExact = judgeColumnId(exact);
const idOfRouge = judgeColumnId(rouge);

test("what the address says leads back to the column", () => {
  for (const id of [idOfExact, idOfRouge]) {
    for (const isDescending of [true, false]) {
      const text = writeSampleSort({ id, isDescending }, judges);
      expect(sortOf(readSampleSort(text), judges)).toEqual({ id, isDescending });
    }
  }
  expect(writeSampleSort({ id: idOfRouge, isDescending: true }, judges)).toBe(
    "-rouge-l-2026-01-01~close ~ enough",
  );
});

test("an order that is not there is none", () => {
  expect(readSampleSort(undefined)).toBeUndefined();
  expect(readSampleSort("-")).toBeUndefined();
  expect(sortOf(readSampleSort("-gone"), judges)).toBeUndefined();
  expect(writeSampleSort({ id: "sample", isDescending: false }, judges)).toBeUndefined();
});

test("a column is of the same evaluator under every filter", () => {
  const idsOf = (some: typeof judges) =>
    sampleColumns(some, new Set()).map(({ id, label }) => [id, label].join(" "));
  expect(idsOf([rouge, exact]).toSorted()).toEqual(idsOf(judges).toSorted());
  expect(judgeColumnId({ ...exact, profile: "strict" })).not.toBe(idOfExact);
  expect(idOfExact).toMatch(/^[\w-]+$/);
});

test("columns that were chosen among other evaluators hide none of these", () => {
  const columns = sampleColumns([exact], new Set());
  expect(withEvaluators(["sample", "output"], columns, [exact])).toEqual(["sample", "output", idOfExact]);
  const both = sampleColumns(judges, new Set());
  expect(withEvaluators(["sample", idOfRouge], both, judges)).toEqual(["sample", idOfRouge]);
});
