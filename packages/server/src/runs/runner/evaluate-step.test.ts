import { expect, test } from "bun:test";
import type { EvaluatorOutcome } from "../../evaluators/outcome.ts";
import { evaluateStep } from "./evaluate-step.ts";

type Services = Parameters<typeof evaluateStep>[0];
type Evaluators = Parameters<typeof evaluateStep>[2];

test("a verdict that fails for want of a thread or of the judge's rate is asked for again", async () => {
  const outcomes: EvaluatorOutcome[] = [
    { status: "failed", errorMessage: "overloaded: No thread was free within 60000 ms." },
    { status: "failed", errorMessage: "judge_rate_limited: The judge's model limits the rate of requests." },
    { status: "success", pass: true, score: 1 } as EvaluatorOutcome,
    { status: "failed", errorMessage: "judge_error: The judge's model failed the request." },
  ];
  const services = {
    runEvaluator: async () => outcomes.shift(),
    resultWriter: { write: async ([{ outcome }]: [{ outcome: EvaluatorOutcome }]) => [{ id: 1, outcome }] },
  } as unknown as Services;
  const profile = { publicId: "p", name: "p", revision: 1, config: {} };
  const judge = { id: "judge", family: { name: "judge", kind: "model" }, profile, explainStrategy: "never" };
  const sample = {
    trajectory_id: "t",
    step: 0,
    dataset_sample_id: "t/0",
    interaction: { state: "s", action: "a" },
    next_state: "n",
  };
  const evaluate = async () => {
    const { verdicts } = await evaluateStep(
      services,
      {
        id: "r",
        account_id: "a",
        params: null,
        provenance: {},
        mode: "teacher-forced",
        dataset: {},
      } as never,
      [{ ...judge, index: 0 }] as unknown as Evaluators,
      { position: 1, repeat: 0, sample } as never,
      { output: "n", model: null },
      new AbortController().signal,
    );
    return verdicts.map(({ status, pass }) => [status, pass]);
  };
  expect(await evaluate()).toEqual([["success", 1]]);
  // Failures that say something about the sample or the judge are kept.
  expect(await evaluate()).toEqual([["failed", null]]);
});
