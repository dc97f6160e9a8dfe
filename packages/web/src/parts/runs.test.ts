import { expect, test } from "bun:test";
import type { ListedRun } from "@presage/sdk";
import { judgeRun } from "./runs.tsx";

function judge(run: object, headline: object | null = null): string {
  const all = { goal: null, target: { deployment: "d" }, headline: null, ...run };
  const figures = { pass_rate: 0.6, pass_interval: { lower: 0.5, upper: 0.7 }, baseline: { pass_rate: 0.4 } };
  const { tone, text } = judgeRun({ ...all, headline: headline && { ...figures, ...headline } } as ListedRun);
  return `${tone}: ${text}`;
}

test("A run is judged by its goal, whatever its baseline", () => {
  expect(judge({ goal: { state: "missed", pass_rate: 0.855 } }, {})).toBe("fail: Goal 85.5\u00a0%: missed");
  expect(judge({ goal: { state: "undecided", pass_rate: 0.5 } })).toBe("warn: Goal 50\u00a0%: undecided");
});

test("Without a goal it is above or below the best baseline only where their intervals are apart", () => {
  const baseline = (pass_rate: number, interval: object | null = null) => ({
    baseline: { pass_rate, interval },
  });
  expect(judge({}, baseline(0.4))).toBe("pass: Above baseline");
  expect(judge({}, baseline(0.5))).toBe("warn: Overlaps baseline");
  expect(judge({}, baseline(0.8))).toBe("fail: Below baseline");
  // Compared in pairs, they may still differ.
  expect(judge({}, baseline(0.8, { lower: 0.69, upper: 0.9 }))).toBe("warn: Overlaps baseline");
  expect(judge({}, baseline(0.4, { lower: 0.3, upper: 0.51 }))).toBe("warn: Overlaps baseline");
});

test("A comparison with the best baseline in pairs says more than the intervals", () => {
  const overlaps = { baseline: { pass_rate: 0.55, interval: { lower: 0.5, upper: 0.6 } } };
  expect(judge({}, { ...overlaps, baseline_outcome: "better" })).toBe("pass: Above baseline");
  expect(judge({}, { ...overlaps, baseline_outcome: "worse" })).toBe("fail: Below baseline");
  const apart = { baseline: { pass_rate: 0.4, interval: null } };
  expect(judge({}, { ...apart, baseline_outcome: "undecided" })).toBe("warn: Baseline: undecided");
});

test("What cannot be judged has no colour", () => {
  expect(judge({})).toBe("neutral: No verdicts");
  expect(judge({}, { baseline: null })).toBe("neutral: No baseline");
  expect(judge({}, { pass_interval: null })).toBe("neutral: No interval");
  expect(judge({ target: { baseline: "no-change" } }, {})).toBe("neutral: Baseline");
});
