import type { ReportEvaluator, RunSample } from "@presage/sdk";
import type { StepMark } from "../../../ui/steps/step-strip.tsx";
import { verdictOf } from "../run-verdicts.tsx";

/** The predictions of one repeat of a trajectory. */
interface TrajectoryOutline {
  /** In ascending order. */
  steps: readonly number[];
  sampleAt(step: number): RunSample | undefined;
  /** The previous step, whose prediction a free-running model is told. */
  stepBefore(step: number): number | undefined;
}

export function outlineOf(samples: readonly RunSample[], repeat: number): TrajectoryOutline {
  const ofRepeat = samples.filter((sample) => sample.repeat === repeat);
  const byStep = new Map(ofRepeat.map((sample) => [sample.step, sample]));
  const steps = [...byStep.keys()].sort((one, other) => one - other);
  return {
    steps,
    sampleAt: (step) => byStep.get(step),
    stepBefore: (step) => steps[steps.indexOf(step) - 1],
  };
}

/** How far a trajectory agrees with the recording. */
export type Divergence =
  | { kind: "diverged"; step: number }
  /** A step has no verdict, so what follows is not known. */
  | { kind: "unknown"; step: number }
  | { kind: "agrees"; steps: number };

/** The first step that an evaluator did not pass, counted as in the report: a failure ends the trajectory there. */
export function firstDivergence(
  { steps, sampleAt }: TrajectoryOutline,
  evaluator: ReportEvaluator,
): Divergence {
  for (const step of steps) {
    const sample = sampleAt(step);
    const verdict = sample && verdictOf(sample, evaluator);
    if (verdict?.pass === false) return { kind: "diverged", step };
    if (verdict?.pass !== true) return { kind: "unknown", step };
  }
  return { kind: "agrees", steps: steps.length };
}

/** The mark of a step according to one evaluator. */
export function markOf(
  sample: RunSample | undefined,
  evaluator: ReportEvaluator,
  divergence: Divergence,
): StepMark {
  if (sample === undefined) return { tone: "none", label: "no prediction yet" };
  if (sample.prediction.status === "failed") return { tone: "failed", label: "the prediction failed" };
  const verdict = verdictOf(sample, evaluator);
  if (verdict === undefined) return { tone: "none", label: "no verdict yet" };
  if (verdict.pass === null) return { tone: "failed", label: "no verdict" };
  const isFirst = divergence.kind === "diverged" && divergence.step === sample.step;
  return {
    tone: verdict.pass ? "pass" : "fail",
    label: `${verdict.pass ? "pass" : "fail"}${isFirst ? ", the first divergence" : ""}`,
    isFlagged: isFirst,
  };
}
