import { expect, test } from "bun:test";
import type { ResultRow } from "../../../data/evaluation/evaluation-results.ts";
import { groupBySample, resultsOf } from "./group-by-sample.ts";

const row = (id: string, sample: string | number, more: Partial<ResultRow> = {}): ResultRow => ({
  id,
  app: "app",
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
