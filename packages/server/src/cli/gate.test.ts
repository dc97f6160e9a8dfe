import { describe, expect, test } from "bun:test";
import type { ComparisonCandidate } from "@presage/contract";
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
      "exact-match: the pass rate 79.0 %, with 3 predictions without a verdict as not passed, is below --min-pass-rate 80.0 %",
      "exact-match system:mdlm-semantic: the pass rate 0.0 % is below --min-pass-rate 80.0 %",
    ]);
    expect(findShortfalls([of(exact, 0.8), of(change, 0.1)], [readMinimum("0.5")])).toHaveLength(1);
    // Rounded alike, the two would read as equal.
    expect(findShortfalls([of(exact, 0.7996)], minimums)).toEqual([
      "exact-match: the pass rate 79.96 % is below --min-pass-rate 80.00 %",
    ]);
  });
});

describe("--max-regression", () => {
  const worse = {
    difference: -0.02,
    interval: { level: 0.95, lower: -0.03, upper: -0.01 },
    measure: "score" as const,
    outcome: "worse" as const,
    p_adjusted: 0.01,
    count: 990,
    trajectories: 200,
    only_in_reference: 0,
  };
  const none = { worse: [], undecided: [] };
  const check = (candidate: Partial<ComparisonCandidate>, points = 1) =>
    findRegressions({ evaluators: [{ ...exact, candidates: [{ ...worse, ...candidate }] }] }, points);

  test("takes percentage points", () => {
    expect(readMaxRegression("1.0")).toBe(1);
    for (const text of ["-1", "101", "x", ""])
      expect(() => readMaxRegression(text)).toThrow("--max-regression takes");
  });

  test("falls short if the mean is lower by more, and that is no chance", () => {
    expect(check({})).toEqual({
      worse: [
        "exact-match: the mean score is 2.0 points lower than the reference's (p 0.010), more than --max-regression 1",
      ],
      undecided: [],
    });
    expect(check({ difference: -0.009 })).toEqual(none);
    expect(check({ outcome: "undecided", p_adjusted: 0.05 })).toEqual(none);
    expect(check({ difference: 0.02, outcome: "better" }, 0)).toEqual(none);
  });

  test("is undecided if the mean is lower by more in trajectories too few or too alike to tell", () => {
    const few = { outcome: "undecided", interval: null, difference: -0.975 } as const;
    expect(check({ ...few, trajectories: 5 }).undecided).toEqual([
      "exact-match: undecided: 5 trajectories are too few to tell a loss of 97.5 points from chance; at least 6 are needed",
    ]);
    expect(check({ ...few, trajectories: 6 }).undecided).toEqual([
      "exact-match: undecided: all 6 trajectories lose 97.5 points alike, which does not show how far others would",
    ]);
    expect(check({ ...few, trajectories: 5, difference: -0.009 })).toEqual(none);
    // Shown to be worse, whatever the interval.
    expect(check({ ...few, outcome: "worse" })).toMatchObject({ worse: [expect.any(String)], undecided: [] });
  });

  test("falls short if more than 1 % of the samples have a verdict in the reference only", () => {
    const isFine = { difference: 0.02, outcome: "better" } as const;
    expect(check({ ...isFine, only_in_reference: 10 })).toEqual(none);
    expect(check({ ...isFine, only_in_reference: 11 }).worse).toEqual([
      "exact-match: 11 of 1001 samples have a verdict in the reference only (1.1 %), more than 1.0 %",
    ]);
  });

  test("falls short if nothing could be compared", () => {
    const nothing = { difference: null, interval: null, p_adjusted: null, outcome: "undecided" } as const;
    expect(check({ ...nothing, count: 0, trajectories: 0 })).toEqual({
      worse: ["exact-match: no sample has a verdict in both runs, so --max-regression 1 was not checked"],
      undecided: [],
    });
  });
});
