import { expect, test } from "bun:test";
import { describeEvaluator } from "./document.ts";

const figures = {
  evaluator: "rouge-l-2026-11-21",
  profile_name: "close enough",
  count: 1,
  failed: 1,
  trajectories: 1,
  mean: null,
  interval: null,
  pass_rate: 1,
  pass_interval: null,
  baseline: null,
};

test("an evaluator is described as far as its figures go", () => {
  expect(describeEvaluator(figures)).toBe(
    "rouge-l close enough passes 100 % of 1 sample in 1 trajectory. 1 prediction without a verdict.",
  );
  expect(describeEvaluator({ ...figures, count: 0, pass_rate: null })).toBe(
    "rouge-l close enough has no verdict. 1 prediction without a verdict.",
  );
  const scored = { mean: 0.375, interval: { level: 0.95, lower: 0.1, upper: 0.75 } };
  expect(describeEvaluator({ ...figures, ...scored, failed: 0, pass_rate: null })).toBe(
    "rouge-l close enough scores 0.375 (95 % interval 0.100 to 0.750) on 1 sample in 1 trajectory.",
  );
  expect(
    describeEvaluator({
      ...figures,
      profile_name: "system:default",
      count: 36,
      failed: 0,
      trajectories: 12,
      pass_rate: 2 / 3,
      pass_interval: { level: 0.95, lower: 0.4831, upper: 0.81 },
      baseline: { kind: "retrieval", run_id: null, pass_rate: 0.554, interval: null, count: 40 },
    }),
  ).toBe(
    "rouge-l passes 66.7 % (95 % interval 48.3 to 81.0 %) of 36 samples in 12 trajectories; the best baseline, retrieval, passes 55.4 % of 40.",
  );
});
