import { describe, expect, test } from "bun:test";
import { mersenne } from "pure-rand/generator/mersenne";
import { holm } from "../../evaluation/statistics/holm.ts";
import { pairedDifference } from "../../evaluation/statistics/paired-difference.ts";
import { checkMinimums, findRegressions, findShortfalls, readMaxRegression, readMinimum } from "./gate.ts";

const exact = { evaluator: "exact-match-2026-11-21", profile_name: "system:default" };
const semantic = { evaluator: "exact-match-2026-11-21", profile_name: "system:mdlm-semantic" };
const change = { evaluator: "state-change-2026-11-21", profile_name: "system:default" };

describe("--min-pass-rate", () => {
  test("takes a share for all evaluators, for a family, or for a family with a profile", () => {
    expect(readMinimum("0.8")).toEqual({ name: undefined, share: 0.8 });
    expect(readMinimum("exact-match=1")).toEqual({ name: "exact-match", share: 1 });
    expect(readMinimum("exact-match=system:mdlm-exact=0")).toEqual({
      name: "exact-match=system:mdlm-exact",
      share: 0,
    });
    for (const text of ["", "exact-match", "exact-match=", "exact-match=1.1", "exact-match=-1", "80%"])
      expect(() => readMinimum(text)).toThrow("--min-pass-rate takes EVALUATOR=SHARE");
  });

  test("of an evaluator that the run does not have is refused", () => {
    const check = (text: string) => () => checkMinimums([readMinimum(text)], [exact, change]);
    expect(check("state-change=0.5")).not.toThrow();
    expect(check("exact-match-2026-11-21=0.5")).not.toThrow();
    expect(check("exact-match=system:mdlm-exact=0.5")).toThrow("the run has no such evaluator");
    expect(check("contains=0.5")).toThrow("--min-pass-rate contains=0.5: the run has no such evaluator");
  });

  test("falls short where the rate is lower, with failures as not passed, and without any verdict", () => {
    const of = (one: typeof exact, rate: number | null, failed = 0) => ({
      ...one,
      pass_rate_failures_as_zero: rate,
      failed,
    });
    const minimums = [readMinimum("exact-match=0.8")];
    expect(findShortfalls([of(exact, 0.8), of(change, 0.1)], minimums)).toEqual([]);
    expect(findShortfalls([of(exact, 0.79, 3), of(semantic, null)], minimums)).toEqual([
      "exact-match system:default: the pass rate 79.0 %, with 3 failed that count as not passed, is below --min-pass-rate 80.0 %",
      "exact-match system:mdlm-semantic: the pass rate 0.0 % is below --min-pass-rate 80.0 %",
    ]);
    expect(findShortfalls([of(exact, 0.8), of(change, 0.1)], [readMinimum("0.5")])).toHaveLength(1);
  });
});

describe("--max-regression", () => {
  const tested = { p_value: 0.01, p_permutation: 0.02, trajectories: 200 };
  const compared = (difference: number | null, p_adjusted: number | null, only_in_reference = 0) => ({
    evaluators: [
      { ...exact, candidates: [{ ...tested, difference, p_adjusted, count: 990, only_in_reference }] },
    ],
  });

  test("takes percentage points", () => {
    expect(readMaxRegression("1.0")).toBe(1);
    for (const text of ["-1", "101", "x", ""])
      expect(() => readMaxRegression(text)).toThrow("--max-regression takes");
  });

  test("falls short if the mean is lower by more, and that is no chance", () => {
    expect(findRegressions(compared(-0.02, 0.01), 1)).toEqual([
      "exact-match system:default: the mean score is 2.0 points lower than the reference's (p 0.010), more than --max-regression 1",
    ]);
    expect(findRegressions(compared(-0.009, 0.0001), 1)).toEqual([]);
    expect(findRegressions(compared(-0.02, 0.05), 1)).toEqual([]);
    expect(findRegressions(compared(-0.02, null), 1)).toEqual([]);
    expect(findRegressions(compared(0.02, 0.01), 0)).toEqual([]);
  });

  test("falls short if too few trajectories for a test are all worse alike", () => {
    const candidate = { difference: -0.8, count: 20, only_in_reference: 0 };
    const few = { ...candidate, p_value: 0.125, p_permutation: 0.125, p_adjusted: 0.25, trajectories: 4 };
    expect(findRegressions({ evaluators: [{ ...exact, candidates: [few] }] }, 1)).toEqual([
      "exact-match system:default: the mean score is 80.0 points lower than the reference's in all 4 trajectories alike, which are too few to test --max-regression 1",
    ]);
    const varied = { ...few, p_value: 0.06 };
    expect(findRegressions({ evaluators: [{ ...exact, candidates: [varied] }] }, 1)).toEqual([]);
    const many = { ...few, p_value: 2 ** -9, p_permutation: 2 ** -9, p_adjusted: 0.06, trajectories: 10 };
    expect(findRegressions({ evaluators: [{ ...exact, candidates: [many] }] }, 1)).toEqual([]);
  });

  test("falls short if more than 1 % of the samples have a verdict in the reference only", () => {
    expect(findRegressions(compared(0.02, 0.01, 10), 1)).toEqual([]);
    expect(findRegressions(compared(0.02, 0.01, 11), 1)).toEqual([
      "exact-match system:default: 11 of 1001 samples have a verdict in the reference only (1.1 %), more than 1.0 %",
    ]);
  });

  test("falls short if nothing could be compared", () => {
    const candidates = [{ ...tested, difference: null, p_adjusted: null, count: 0, only_in_reference: 0 }];
    expect(findRegressions({ evaluators: [{ ...exact, candidates }] }, 1)).toEqual([
      "exact-match system:default: no sample has a verdict in both runs, so --max-regression 1 was not checked",
    ]);
  });

  test("of 1,000 comparisons without a difference at most 35 fall short of 0 points", () => {
    const random = mersenne(20261122);
    const uniform = () => (random.next() >>> 0) / 2 ** 32;
    let failed = 0;
    for (let repetition = 0; repetition < 1000; repetition++) {
      // Steps of a trajectory succeed and fail together, in both runs alike.
      const clusters = Array.from({ length: 200 }, () => {
        const rate = uniform();
        let sum = 0;
        for (let step = 0; step < 10; step++) sum += Number(uniform() < rate) - Number(uniform() < rate);
        return { count: 10, sum };
      });
      const { difference, pValue } = pairedDifference(clusters);
      const [p_adjusted = null] = holm([pValue]);
      const candidates = [{ ...tested, difference, p_adjusted, count: 2000, only_in_reference: 0 }];
      failed += findRegressions({ evaluators: [{ ...exact, candidates }] }, 0).length;
    }
    expect(failed).toBeWithin(10, 36);
  });
});
