import { expect, test } from "bun:test";
import { judgeGoal } from "./goals.ts";

const goal = {
  ...{ id: "g", account_id: "a", run_name: "nightly", created_by: "u", created_at: 0 },
  ...{ evaluator: "exact-match", profile_name: null, pass_rate: 0.8 },
};
const figures = {
  ...{ evaluator: "exact-match-2026-11-21", profile_name: "system:default" },
  ...{ pass_rate: 0.95, pass_rate_failures_as_zero: 0.9 },
  pass_interval: { level: 0.95, lower: 0.85, upper: 0.99 },
};
const judge = (
  part: Partial<typeof figures>,
  { isPreliminary = false, isLeaky = false, isPilot = false } = {},
) => {
  const made = {
    ...(isLeaky && { leaky: true as const }),
    ...(isPilot && { draw: { samples: 1, of: 2, seed: 1 } }),
  };
  const { state, why } = judgeGoal(goal, [{ ...figures, ...part }], made, isPreliminary);
  return why ?? state;
};

test("a goal is met only if failures, counted as not passed, do not undo it", () => {
  expect(judge({})).toBe("met");
  expect(judge({ pass_rate_failures_as_zero: 0.79 })).toBe("failures");
});

test("what has no figure yet is undecided, and a goal is met at its very number", () => {
  expect(judge({}, { isPreliminary: true })).toBe("not_ended");
  expect(judge({ evaluator: "rouge-l" })).toBe("no_figure");
  expect(judge({ pass_interval: { level: 0.95, lower: 0.8, upper: 0.99 } })).toBe("met");
  expect(judge({ pass_interval: { level: 0.95, lower: 0.7, upper: 0.8 } })).toBe("within_interval");
  expect(judge({ pass_interval: { level: 0.95, lower: 0.7, upper: 0.79 } })).toBe("missed");
});

test("a run on what its world was calibrated on meets no goal, and may miss one", () => {
  expect(judge({}, { isLeaky: true })).toBe("leaky");
  const low = { level: 0.95, lower: 0.7, upper: 0.79 };
  expect(judge({ pass_interval: low }, { isLeaky: true })).toBe("missed");
});

test("a pilot meets no goal, and may miss one", () => {
  expect(judge({}, { isPilot: true })).toBe("pilot");
  const low = { level: 0.95, lower: 0.7, upper: 0.79 };
  expect(judge({ pass_interval: low }, { isPilot: true })).toBe("missed");
});
