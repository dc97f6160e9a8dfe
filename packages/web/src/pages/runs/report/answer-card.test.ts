import { expect, test } from "bun:test";
import type { Run } from "@presage/sdk";
import { answerOf } from "./answer-card.tsx";

const baseline = (kind: "no-change" | "retrieval") => ({
  kind,
  run_id: null,
  pass_rate: 0.5,
  interval: null,
  count: 10,
});
const figures = { pass_rate: 0.8, baseline: baseline("retrieval") };
const run: Pick<Run, "mode" | "status"> = { mode: "teacher-forced", status: "finished" };
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

test("the answer is the outcome of the test with its figure, whatever the rates are", () => {
  expect(answerOf(run, figures, compared, " by rouge-l")).toMatchObject({
    tone: "pass",
    text: "Better than the best baseline by rouge-l, retrieval: +30.0 points of the mean score (+20.0 to +40.0).",
  });
  expect(answerOf(run, figures, { ...compared, outcome: "undecided" }, "")).toMatchObject({
    tone: "warn",
    text: expect.stringContaining("Not shown to beat the best baseline, retrieval: +30.0 points"),
  });
});

test("a difference that one more failure would undo says so", () => {
  expect(answerOf(run, figures, compared, "").detail).toBe("1 sample better, 2 worse, 3 the same.");
  expect(answerOf(run, figures, { ...compared, survives_one_failure: false }, "").detail).toEndWith(
    " One trajectory in which the model fails whole would undo the difference.",
  );
});

test("without a run of the baseline nothing is claimed, and what is missing is said", () => {
  expect(answerOf(run, figures, undefined, "")).toMatchObject({
    tone: "neutral",
    text: "Difference from retrieval not tested (+30.0 points of the pass rate): it has no run of its own yet.",
  });
  expect(answerOf({ ...run, status: "running" }, figures, undefined, "").text).toEndWith(
    "this run has not finished.",
  );
  const none = { pass_rate: 0.8, baseline: null };
  expect(answerOf(run, none, undefined, "").text).toBe("No baseline to compare with.");
  expect(answerOf({ ...run, mode: "free-running" }, none, undefined, "").text).toBe(
    "No free-running baseline to compare with.",
  );
});
