import { expect, test } from "bun:test";
import type { RunReport } from "@presage/sdk";
import type { ComparedEvaluator } from "../../../parts/evaluator-names.ts";
import type { MarkedRun } from "../run-mark.tsx";
import { differenceCurves, domainOf, scoreCurves, survivalCurves } from "./curves.ts";

const named = { evaluator: "exact-match-2026-11-21", profile_name: "system:default", profile_revision: 1 };
const marked = ["a", "b"].map((id, index) => ({
  run: { id, name: id },
  letter: id.toUpperCase(),
  color: `var(--color-chart-${index + 1})`,
})) as MarkedRun[];
const interval = { level: 0.95, lower: -1.2, upper: 0.3 };
const stratum = { key: 2, count: 5, trajectories: 3, mean: 0.5, difference: -0.4, interval };
const evaluator = {
  ...named,
  candidates: [{ run_id: "b", strata: { step: [stratum] } }],
} as unknown as ComparedEvaluator;
const report = {
  evaluators: [{ ...named, strata: { step: [stratum] } }],
  survival: [
    { ...named, trajectories: 4, steps: [{ step: 3, survival: 0.5, interval: null, at_risk: 4 }], median: 3 },
  ],
} as unknown as RunReport;

test("Scores have a curve for each run that is loaded, differences one for each compared run within what is possible", () => {
  expect(scoreCurves(marked, [report, undefined], evaluator)).toMatchObject([
    {
      key: "a",
      label: "A: a",
      isDashed: true,
      points: [{ x: 2, value: 0.5, basis: "5 samples in 3 trajectories" }],
    },
  ]);
  expect(differenceCurves(marked, evaluator)).toMatchObject([
    { key: "b", isDashed: false, points: [{ x: 2, value: -0.4, lower: -1, upper: 0.3 }] },
  ]);
});

test("Steps that hardly any trajectory reaches are not drawn", () => {
  const rare = { ...stratum, key: 9, trajectories: 2 };
  const some = { ...evaluator, candidates: [{ run_id: "b", strata: { step: [stratum, rare] } }] };
  const [series] = differenceCurves(marked, some as unknown as ComparedEvaluator);
  expect(series?.points.map(({ x }) => x)).toEqual([2]);
});

test("Survival begins with all trajectories", () => {
  const { series, curves } = survivalCurves(marked, [undefined, report], evaluator);
  expect(series[0]?.points).toMatchObject([
    { x: 0, value: 1 },
    { x: 3, value: 0.5, basis: "4 at risk" },
  ]);
  expect(curves).toMatchObject([{ name: "b", survival: { median: 3 } }]);
});

test("The axis has zero on it, and never no length", () => {
  expect(domainOf(differenceCurves(marked, evaluator))).toEqual([-1, 0.3]);
  expect(domainOf([])).toEqual([-0.1, 0.1]);
});
