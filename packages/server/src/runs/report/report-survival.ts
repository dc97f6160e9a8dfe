import type { RunSurvival } from "@presage/contract";
import { bootstrapSurvival } from "../../platform/statistics/bootstrap-survival.ts";
import {
  type FirstDivergence,
  firstDivergence,
  type StepOutcome,
} from "../../platform/statistics/first-divergence.ts";
import { type SurvivalCurve, survival } from "../../platform/statistics/survival.ts";
import { type Outcomes, outcome } from "./read-outcomes.ts";
import type { RunSamples } from "./run-samples.ts";

/** Any will do; the same one makes the same report. */
const bootstrapSeed = 1;

type SurvivalFigures = Omit<RunSurvival, "evaluator" | "profile_name" | "profile_id" | "profile_revision">;

/** The time of the first divergence. Trajectories that a run has not begun are left out. */
export async function reportSurvival(samples: RunSamples, outcomes: Outcomes): Promise<SurvivalFigures> {
  const ended: FirstDivergence[][] = [];
  const bound: FirstDivergence[][] = [];
  for (const indexes of indexesByTrajectory(samples)) {
    const repeats = stepsByRepeat(indexes, samples, outcomes);
    ended.push(repeats.map((steps) => firstDivergence(steps)));
    bound.push(repeats.map((steps) => firstDivergence(steps, { failuresDiverge: true })));
  }
  const all = ended.flat();
  const count = (ending: FirstDivergence["ending"]) => all.filter((one) => one.ending === ending).length;
  const hasRepeats = outcomes.repeats > 1;
  return {
    trajectories: all.length,
    endings: {
      diverged: count("diverged"),
      recording_ended: count("recording-ended"),
      prediction_failed: count("prediction-failed"),
      evaluator_failed: count("evaluator-failed"),
    },
    ...(await curveOf(ended, hasRepeats)),
    failures_as_divergence: await curveOf(bound, hasRepeats),
    seed: hasRepeats ? bootstrapSeed : null,
  };
}

/** Repeats of a trajectory depend on each other, so then its intervals are from resampled trajectories. */
async function curveOf(
  trajectories: readonly (readonly FirstDivergence[])[],
  hasRepeats: boolean,
): Promise<RunSurvival["failures_as_divergence"]> {
  return toCurve(
    hasRepeats ? await bootstrapSurvival(trajectories, bootstrapSeed) : survival(trajectories.flat()),
  );
}

function toCurve({ steps, median }: SurvivalCurve): RunSurvival["failures_as_divergence"] {
  return { steps: steps.map(({ atRisk, ...step }) => ({ ...step, at_risk: atRisk })), median };
}

function* indexesByTrajectory({ order, trajectories }: RunSamples): Generator<Int32Array, void> {
  for (let start = 0; start < order.length; ) {
    const trajectory = trajectories.of[order[start] ?? 0];
    let end = start + 1;
    while (end < order.length && trajectories.of[order[end] ?? 0] === trajectory) end += 1;
    yield order.subarray(start, end);
    start = end;
  }
}

/** The outcomes of each repeat that was begun, up to the last one that there is. */
function stepsByRepeat(
  indexes: Int32Array,
  { step }: RunSamples,
  { repeats, of }: Outcomes,
): StepOutcome[][] {
  const all: StepOutcome[][] = [];
  for (let repeat = 0; repeat < repeats; repeat++) {
    const steps: StepOutcome[] = [];
    for (const index of indexes) {
      const code = of[index * repeats + repeat];
      if (code === outcome.notApplicable) continue;
      const name = nameOf(code);
      if (name === undefined) break;
      steps.push({ step: step[index] ?? 0, outcome: name });
      if (name !== "pass") break;
    }
    if (steps.length > 0) all.push(steps);
  }
  return all;
}

function nameOf(code: number | undefined): StepOutcome["outcome"] | undefined {
  if (code === outcome.pass) return "pass";
  if (code === outcome.fail) return "fail";
  if (code === outcome.evaluatorFailed) return "evaluator-failed";
  return code === outcome.predictionFailed ? "prediction-failed" : undefined;
}
