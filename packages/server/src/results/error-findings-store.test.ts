import { expect, test } from "bun:test";
import type { EvaluationStatus } from "@presage/contract";
import { microsPerDay } from "../platform/storage/columns.ts";
import { countErrorFindings } from "./error-findings-store.ts";

/** A result that found these paths on a day. */
function resultOf(
  paths: string[][],
  day = 0,
  revision = "one",
  { evaluator_family = "error-taxonomy", status = "success" as EvaluationStatus } = {},
) {
  const extra = {
    model: "m",
    categories: paths.map((path) => ({ path, reason: "Because." })),
    error_taxonomy_revision_id: revision,
  };
  return {
    row: {
      account_id: "account",
      evaluator_family,
      created_at: day * microsPerDay + 5,
      status,
    },
    texts: { additional_info: JSON.stringify({ extra }) },
  };
}

function counted(results: Parameters<typeof countErrorFindings>[0]) {
  return countErrorFindings(results).map(
    ({ revision_id, day, path, count }) => `${revision_id} ${day} ${path} ${count}`,
  );
}

test("Evaluations and the kinds of errors that they found are counted by revision and day", () => {
  const results = [
    resultOf([["state", "lost"]]),
    resultOf([["state", "lost"], ["late"]]),
    resultOf([]),
    resultOf([["late"]], 1),
    resultOf([["late"]], 0, "two"),
  ];
  expect(counted(results).sort()).toEqual([
    'one 0 ["late"] 1',
    'one 0 ["state","lost"] 2',
    "one 0 [] 3",
    'one 1 ["late"] 1',
    "one 1 [] 1",
    'two 0 ["late"] 1',
    "two 0 [] 1",
  ]);
});

test("Two leaves of one path are one kind of error", () => {
  expect(counted([resultOf([["late"], ["late"]])])).toEqual(["one 0 [] 1", 'one 0 ["late"] 1']);
});

test("A path always has the same id, and no other path has it", () => {
  const rows = countErrorFindings([resultOf([["a", "b"], ["a"], ["b"]]), resultOf([["a", "b"]], 1, "two")]);
  const ids = Map.groupBy(rows, ({ path }) => path);
  for (const same of ids.values()) expect(new Set(same.map(({ path_id }) => path_id)).size).toBe(1);
  expect(new Set(rows.map(({ path_id }) => path_id)).size).toBe(4);
});

test("Other families, and evaluations without a verdict, are not counted", () => {
  expect(countErrorFindings([resultOf([["late"]], 0, "one", { evaluator_family: "judge" })])).toEqual([]);
  expect(countErrorFindings([resultOf([["late"]], 0, "one", { status: "failed" })])).toEqual([]);
  expect(countErrorFindings([{ ...resultOf([]), texts: { additional_info: null } }])).toEqual([]);
});
