import { expect, test } from "bun:test";
import { describeOutcome } from "./describe-outcome.ts";

const names = { candidate: "B", reference: "A", evaluator: "exact-match" };
const compared = {
  mean: 0.75,
  pass_rate: 0.75,
  count: 400,
  mean_failures_as_zero: 0.75,
  trajectories: 25,
  difference: 0.031,
  interval: { level: 0.95, lower: 0.012, upper: 0.05 },
  p_value: 0.002,
  p_permutation: 0.002,
  p_adjusted: 0.004,
  wins: 20,
  losses: 8,
  ties: 372,
  only_in_reference: 0,
  only_in_candidate: 0,
  difference_failures_as_zero: 0.031,
  min_detectable: 0.028,
  trajectories_for_1_point: 200,
  note: null,
};

test("A difference that is shown is said with its interval", () => {
  expect(describeOutcome(compared, names)).toEqual({
    verdict: "better",
    sentence: "B is better than A on exact-match by 3.1 points, 95 % interval +1.2 to +5.0, p = 0.004.",
    caveats: [],
  });
  const worse = describeOutcome(
    { ...compared, difference: -0.031, interval: { level: 0.95, lower: -0.05, upper: -0.012 } },
    names,
  );
  expect(worse.sentence).toBe(
    "B is worse than A on exact-match by 3.1 points, 95 % interval −5.0 to −1.2, p = 0.004.",
  );
});

test("Otherwise no difference can be shown, and the smallest that could is named", () => {
  const { verdict, sentence, caveats } = describeOutcome(
    { ...compared, p_adjusted: 0.06, p_value: 0.03 },
    names,
  );
  expect(verdict).toBe("open");
  expect(sentence).toStartWith("No difference between B and A can be shown on exact-match: +3.1 points");
  expect(caveats.join(" ")).toContain("Taken alone it would be significant (p = 0.030)");
  expect(caveats.join(" ")).toContain("2.8 points in four of five cases");
});

test("Without common verdicts and with one trajectory nothing is claimed", () => {
  const nothing = { ...compared, difference: null, interval: null, p_value: null, p_adjusted: null };
  expect(describeOutcome(nothing, names).sentence).toContain("have no sample in common");
  const one = { ...compared, interval: null, p_value: null, p_adjusted: null, trajectories: 1 };
  expect(describeOutcome(one, names)).toMatchObject({ verdict: "open" });
  expect(describeOutcome(one, names).caveats[0]).toContain("one trajectory");
});

test("Samples that only one run has are said, with failures as zero", () => {
  const { caveats } = describeOutcome(
    { ...compared, only_in_reference: 12, difference_failures_as_zero: -0.01 },
    names,
  );
  expect(caveats).toEqual([
    "12 samples have a verdict in one of the two only, and do not count. With failures as 0 the difference is −1.0 points.",
  ]);
});
