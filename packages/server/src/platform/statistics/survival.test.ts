import { expect, test } from "bun:test";
import {
  bootstrapSurvival,
  type FirstDivergence,
  firstDivergence,
  type StepOutcome,
  survival,
} from "./survival.ts";

const trajectory = (...outcomes: StepOutcome["outcome"][]): StepOutcome[] =>
  outcomes.map((outcome, step) => ({ step, outcome }));

test("a trajectory ends with its first divergence, and is censored before what failed", () => {
  const cases: [StepOutcome[], FirstDivergence][] = [
    [trajectory("pass", "fail", "pass", "fail"), { lastStep: 1, ending: "diverged" }],
    [trajectory("pass", "pass"), { lastStep: 1, ending: "recording-ended" }],
    [trajectory("pass", "prediction-failed", "fail"), { lastStep: 0, ending: "prediction-failed" }],
    [trajectory("evaluator-failed", "fail"), { lastStep: null, ending: "evaluator-failed" }],
  ];
  for (const [steps, ending] of cases) expect(firstDivergence(steps)).toEqual(ending);
});

test("as a bound, what failed counts as a divergence", () => {
  for (const failed of ["prediction-failed", "evaluator-failed"] as const) {
    const steps = trajectory("pass", failed);
    expect(firstDivergence(steps, { failuresDiverge: true })).toEqual({ lastStep: 1, ending: "diverged" });
  }
});

test("a censored trajectory is at risk until its last verdict, and never if it has none", () => {
  const endings = [
    trajectory("prediction-failed"),
    trajectory("pass", "prediction-failed"),
    trajectory("pass", "fail"),
    trajectory("pass", "pass"),
  ].map((steps) => firstDivergence(steps));
  const { steps, median } = survival(endings);
  expect(steps.map(({ interval, ...counts }) => counts)).toEqual([
    { step: 0, atRisk: 3, diverged: 0, censored: 1, survival: 1 },
    { step: 1, atRisk: 2, diverged: 1, censored: 1, survival: 0.5 },
  ]);
  expect(median).toBe(1);
});

test("the remission times of 21 patients give the published curve", () => {
  // E. J. Freireich et al., Blood 21 (1963), the treated group; the curve as in D. G. Kleinbaum and M. Klein,
  // "Survival Analysis", chapter 2.
  const relapses = [6, 6, 6, 7, 10, 13, 16, 22, 23];
  const censored = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35];
  const curve = survival([
    ...relapses.map((lastStep): FirstDivergence => ({ lastStep, ending: "diverged" })),
    ...censored.map((lastStep): FirstDivergence => ({ lastStep, ending: "recording-ended" })),
  ]);
  const published = [
    [6, 21, 0.8571],
    [7, 17, 0.8067],
    [10, 15, 0.7529],
    [13, 12, 0.6902],
    [16, 11, 0.6275],
    [22, 7, 0.5378],
    [23, 6, 0.4482],
  ];
  expect(
    curve.steps
      .filter(({ diverged }) => diverged > 0)
      .map(({ step, atRisk, survival }) => [step, atRisk, Number(survival.toFixed(4))]),
  ).toEqual(published);
  expect(curve.median).toBe(23);
});

test("a share of 1 or 0 has no interval, and a curve above a half no median", () => {
  const all = survival(
    [trajectory("pass", "pass"), trajectory("pass")].map((steps) => firstDivergence(steps)),
  );
  expect(all.steps.map(({ interval }) => interval)).toEqual([null, null]);
  expect(all.median).toBeNull();
  const none = survival([firstDivergence(trajectory("fail"))]);
  expect(none.steps).toEqual([{ step: 0, atRisk: 1, diverged: 1, censored: 0, survival: 0, interval: null }]);
  expect(survival([])).toEqual({ steps: [], median: null });
});

test("the repeats of one trajectory alone have no interval", async () => {
  const repeats = [trajectory("pass", "fail"), trajectory("pass", "pass")].map((one) => firstDivergence(one));
  expect(
    (await bootstrapSurvival([repeats], 1)).steps.map(({ survival, interval }) => [survival, interval]),
  ).toEqual([[0.5, null]]);
  expect(await bootstrapSurvival([], 1)).toEqual({ steps: [], median: null });
});

test("repeats that all end alike have the intervals of as many trajectories, not of more", async () => {
  const endings = Array.from({ length: 40 }, (_, index) =>
    firstDivergence(trajectory(...Array<"pass">(index % 8).fill("pass"), "fail")),
  );
  const once = await bootstrapSurvival(
    endings.map((one) => [one]),
    3,
  );
  const fiveTimes = await bootstrapSurvival(
    endings.map((one) => Array(5).fill(one)),
    3,
  );
  for (const [index, { interval, survival }] of once.steps.entries()) {
    expect(fiveTimes.steps[index]?.survival).toBeCloseTo(survival, 12);
    expect(fiveTimes.steps[index]?.interval?.lower ?? null).toEqual(
      interval && expect.closeTo(interval.lower, 12),
    );
  }
});
