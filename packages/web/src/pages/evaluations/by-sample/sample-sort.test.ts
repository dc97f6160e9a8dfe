import { expect, test } from "bun:test";
import { judgeColumnId, sampleColumns, withEvaluators } from "./sample-columns.tsx";
import { readSampleSort, sortOf, writeSampleSort } from "./sample-sort.ts";

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
