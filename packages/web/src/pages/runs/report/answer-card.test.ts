import { expect, test } from "bun:test";
import { answerOf } from "./answer-card.tsx";

const baseline = (kind: "no-change" | "retrieval") => ({
  kind,
  run_id: null,
  pass_rate: 0.5,
  interval: null,
  count: 10,
});
const figures = { pass_rate: 0.8, baseline: baseline("retrieval") };
const compared = {
  difference: 0.3,
  interval: { level: 0.95, lower: 0.2, upper: 0.4 },
  measure: "score" as const,
  outcome: "better" as const,
  p_adjusted: 0.0001,
  survives_one_failure: true,
  wins: 1,
  losses: 2,
  ties: 3,
};

test("the answer is the outcome of the test, whatever the figures are", () => {
  expect(answerOf(figures, compared)).toMatchObject({ outcome: "better" });
  expect(answerOf(figures, { ...compared, outcome: "undecided" })).toMatchObject({
    outcome: "undecided",
    title: "Not shown to beat the best baseline",
  });
});

test("a difference that one more failure would undo says so", () => {
  expect(answerOf(figures, compared).detail).toBe("Against retrieval, 1 sample better, 2 worse, 3 the same.");
  expect(answerOf(figures, { ...compared, survives_one_failure: false }).detail).toEndWith(
    " One trajectory in which the model fails whole would undo the difference.",
  );
});

test("without a run of the baseline nothing is claimed", () => {
  expect(answerOf(figures, undefined)).toMatchObject({
    outcome: "unknown",
    detail: expect.stringContaining("+30.0"),
  });
  expect(answerOf({ pass_rate: 0.8, baseline: null }, undefined).title).toBe("No baseline to compare with");
});
