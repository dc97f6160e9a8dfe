import { expect, test } from "bun:test";
import { describeComparison } from "./describe-comparison.ts";
import {
  describeAgainstRecords,
  describeChange,
  describeCoverage,
  describeLeftOut,
  describeMedian,
  formatPoints,
  formatPointsApart,
  mainEvaluator,
} from "./describe-runs.ts";

const names = { candidate: "B", reference: "A", evaluator: "exact-match", preliminary: false };
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
  measure: "score" as const,
  outcome: "better" as const,
  why: null,
  survives_one_failure: true,
  unseen_share: 0.113,
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

const undecided = { ...compared, outcome: "undecided" as const, survives_one_failure: null };

test("A difference that is shown is said with its interval", () => {
  expect(describeComparison(compared, names)).toEqual({
    sentence:
      "B is better than A on exact-match by 3.1 points of the mean score, 95 % interval +1.2 to +5.0, p = 0.004.",
    caveats: [],
  });
});

test("A name with a comma does not come apart in a sentence", () => {
  const { sentence } = describeComparison(compared, { ...names, candidate: "rooms, v2" });
  expect(sentence).toStartWith("“rooms, v2” is better than A on exact-match");
});

test("One that a whole failure would undo says whose", () => {
  const worse = {
    ...compared,
    difference: -0.031,
    interval: { level: 0.95, lower: -0.05, upper: -0.012 },
    outcome: "worse" as const,
    survives_one_failure: false,
  };
  expect(describeComparison(worse, names).sentence).toBe(
    "B is worse than A on exact-match by 3.1 points of the mean score, 95 % interval −5.0 to −1.2, p = 0.004. One trajectory in which A fails whole would undo this.",
  );
});

test("Otherwise no difference can be shown, and why not", () => {
  const noise = { ...undecided, why: "within_noise" as const, p_adjusted: 0.06, p_value: 0.03 };
  const { sentence, caveats } = describeComparison(noise, names);
  expect(sentence).toStartWith("No difference between B and A can be shown on exact-match: +3.1 points");
  expect(caveats.join(" ")).toContain("Taken alone it would be significant (p = 0.030)");
  expect(caveats.join(" ")).toContain("2.8 points in four of five cases");
  expect(describeComparison({ ...noise, min_detectable: 1.561 }, names).caveats).toContain(
    "With so few trajectories, not even the largest difference would be seen in four of five cases: one may be there, unseen.",
  );
  const few = { ...undecided, why: "few_differ" as const, p_adjusted: 0.125 };
  expect(describeComparison(few, names).caveats).toEqual([
    "The runs differ in fewer than 6 trajectories, which no test can tell from chance.",
  ]);
});

test("Five trajectories that all lose nearly everything are no difference", () => {
  const note = "5 trajectories are too few to tell a difference from chance: at least 6 are needed.";
  const five = {
    ...undecided,
    ...{ difference: -0.975, interval: null, p_value: 0.0625, p_adjusted: 0.0625, trajectories: 5, note },
    why: "few_trajectories" as const,
  };
  expect(describeComparison(five, names)).toEqual({
    sentence:
      "No difference between B and A can be shown on exact-match: −97.5 points of the mean score, no interval, p = 0.063.",
    caveats: [note],
  });
});

test("Without common verdicts nothing is claimed", () => {
  const nothing = { ...undecided, difference: null, interval: null, p_value: null, p_adjusted: null };
  expect(describeComparison({ ...nothing, why: "few_trajectories" }, names).sentence).toContain(
    "have no sample in common",
  );
});

test("Samples that only one run has are said, with failures as zero", () => {
  const { caveats } = describeComparison(
    { ...compared, only_in_reference: 12, difference_failures_as_zero: -0.01 },
    names,
  );
  expect(caveats).toEqual([
    "12 samples have a verdict in one of the two only, and do not count. With failures as 0 the difference is −1.0 points.",
  ]);
});

test("A difference of pass rates is said to be one, and a small one is not 0", () => {
  const ofRates = { ...compared, measure: "pass_rate" as const };
  expect(describeComparison(ofRates, names).sentence).toContain("by 3.1 points of the pass rate, 95 %");
  expect([0.0004, -0.00004, 0.001, 1e-9, 0.031].map(formatPoints)).toEqual([
    ...["+0.04", "−0.004", "+0.1", "0.0", "+3.1"],
  ]);
  expect([0.0004, -0.00004, 1e-9, null].map(formatPointsApart)).toEqual(["0.04", "0.004", "0.0", "–"]);
});

test("A survival curve claims nothing beyond the last step with a verdict", () => {
  const step = { at_risk: 4, diverged: 1, censored: 3, survival: 0.75, interval: null };
  const say = (median: number | null, last?: number, trajectories = 2) =>
    describeMedian({ trajectories, median, steps: last === undefined ? [] : [{ ...step, step: last }] });
  expect([say(2, 2), say(2, 2, 3), say(null, 4), say(null)]).toEqual([
    "By step 2, at least half had diverged.",
    "By step 2, half would have diverged if those that ended earlier had gone on alike.",
    "More than half had not yet diverged after step 4, the last with a verdict.",
    "Nothing is known: none has a verdict on its first step.",
  ]);
});

test("The share to keep is said in one sentence, and never as more than it is", () => {
  const coverage = { interval: null, count: 400, trajectories: 90, effective_trajectories: 80, risk: 0.05 };
  const say = (value: number | null, note: string | null = null) =>
    describeCoverage({ ...coverage, value, note, threshold: 0.8 });
  expect([say(0.6299), say(1), say(0), say(null, "Too few.")]).toEqual([
    "If you keep only the 62 % it is surest of, at most 5 % are wrong.",
    "Of all predictions, at most 5 % are wrong.",
    "No confidence is high enough: even the surest answers may be wrong more than 5 % of the time.",
    "Too few.",
  ]);
});

test("A model beats its records only if the test says so", () => {
  const interval = { level: 0.95, lower: 0.05, upper: 0.19 };
  const measure = "score";
  expect(describeAgainstRecords({ measure, difference: 0.12, interval, outcome: "better" })).toBe(
    "The model beats the records alone by 12.0 points of the mean score (95 % interval +5.0 to +19.0).",
  );
  expect(
    describeAgainstRecords({ measure: "pass_rate", difference: -0.2, interval: null, outcome: "worse" }),
  ).toBe("The model does not beat the records alone: −20.0 points of the pass rate (no interval).");
  expect(describeAgainstRecords({ measure, difference: 0.12, interval, outcome: "undecided" })).toBe(
    "It is not shown that the model beats the records alone: +12.0 points of the mean score (95 % interval +5.0 to +19.0).",
  );
  expect(describeAgainstRecords({ measure, difference: null, interval: null, outcome: "undecided" })).toBe(
    "The model and the records alone have no sample with a verdict in common.",
  );
});

test("What was left out is said if anything was", () => {
  const world = { near_duplicates: 0, answered_by: {} };
  expect(describeLeftOut({ ...world, leaves_out: 0 })).toBeUndefined();
  expect(describeLeftOut({ ...world, leaves_out: 1200 })).toContain("of 1,200 predictions, each");
});

test("a run's figures are the goal's evaluator's, else the first one's that has verdicts", () => {
  const judge = { evaluator: "judge-2026-11-30", profile_name: "default", count: 0 };
  const exact = { evaluator: "exact-match-2026-11-30", profile_name: "default", count: 60 };
  expect(mainEvaluator([judge, exact], null)).toBe(exact);
  expect(mainEvaluator([judge, exact], { evaluator: "judge", profile_name: null })).toBe(judge);
  expect(mainEvaluator([judge], null)).toBe(judge);
});

test("changes since the previous run name what people set, and nothing where no sample is in common", () => {
  const changes = [
    { what: "params.temperature", before: null, after: "0.7" },
    { what: "error-taxonomy slips", before: "error-taxonomy-2026-11-30 revision 1", after: null },
    { what: "samples", before: null, after: "60 of 240" },
  ];
  const of = { ...names, profile_id: null, profile_name: null, profile_revision: null };
  const change = (difference: number | null) =>
    describeChange({
      previous: {
        ...{ run_id: "a", name: "a", by: "name", changes, unchanged: ["model"] },
        evaluators: [{ ...compared, ...of, difference }],
      },
    });
  expect(change(0.031)).toEqual([
    "Since the last run of this name by exact-match: +3.1 points of the mean score (+1.2 to +5.0); temperature default → 0.7; error-taxonomy slips no longer measured; samples all → 60 of 240; model the same",
  ]);
  expect(change(null)).toEqual([]);
});
