export interface StepOutcome {
  step: number;
  outcome: "pass" | "fail" | "prediction-failed" | "evaluator-failed";
}

/** How one free-running trajectory ended. */
export interface FirstDivergence {
  /** The last step with a verdict, which is the first divergence if it `diverged`. Null if already the first step failed. */
  lastStep: number | null;
  ending: "diverged" | "recording-ended" | "prediction-failed" | "evaluator-failed";
}

/**
 * The first step of a trajectory that did not pass. A prediction or an evaluator that failed, and the end of the recording,
 * censor the trajectory before that step: all that is known is that it had not diverged until then. `steps` are in order;
 * there is at least one. With `failuresDiverge`, a failed prediction or evaluator counts as a divergence: the bound for the
 * case that all of them would have been.
 */
export function firstDivergence(
  steps: Iterable<StepOutcome>,
  { failuresDiverge = false } = {},
): FirstDivergence {
  let lastStep: number | null = null;
  for (const { step, outcome } of steps) {
    if (outcome === "fail" || (outcome !== "pass" && failuresDiverge)) {
      return { lastStep: step, ending: "diverged" };
    }
    if (outcome !== "pass") return { lastStep, ending: outcome };
    lastStep = step;
  }
  return { lastStep, ending: "recording-ended" };
}
