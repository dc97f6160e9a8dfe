import { isDeepStrictEqual } from "node:util";
import type { RunSurvival } from "@presage/contract";
import {
  bootstrapSurvival,
  type FirstDivergence,
  firstDivergence,
  type StepOutcome,
  survival,
} from "../../platform/statistics/survival.ts";
import { isAfter } from "../../platform/storage/lists.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { hasSamplesOf, type Run } from "../run.ts";
import { selectFinished, selectRun } from "../runs-store.ts";
import { type Outcomes, outcome } from "./outcomes.ts";
import type { RunSamples } from "./samples.ts";

const runsAtOnce = 100;

/** The newest finished teacher-forced run of the same revision, target and params. */
export async function findTeacherForced(reader: Database, run: Run): Promise<Run | undefined> {
  const { dataset, account_id: accountId } = run;
  if (dataset === undefined) return undefined;
  const all = selectFinished(reader, accountId)
    .select(["id", "target", "params", "provenance", "created_at"])
    .where("dataset_id", "=", dataset.datasetId)
    .where("revision_id", "=", dataset.revisionId)
    .where("mode", "=", "teacher-forced")
    .limit(runsAtOnce);
  for (let query = all; ; ) {
    const rows = await query.execute();
    const found = rows.find((row) => isLike(run, row));
    if (found !== undefined) return await selectRun(reader, accountId, found.id);
    const last = rows.at(-1);
    if (last === undefined || rows.length < runsAtOnce) return undefined;
    query = all.where(isAfter({ createdAt: last.created_at, id: last.id }));
  }
}

/** The order of keys does not matter. A pilot's figures cover only its own samples. */
function isLike(
  { target, params, provenance }: Run,
  row: { target: string; params: string | null; provenance: string },
): boolean {
  return (
    isDeepStrictEqual(JSON.parse(row.target), JSON.parse(JSON.stringify(target))) &&
    isDeepStrictEqual(JSON.parse(row.params ?? "{}"), params ?? {}) &&
    hasSamplesOf(JSON.parse(row.provenance) as Run["provenance"], provenance)
  );
}

/** Any seed will do; a fixed one always gives the same report. */
const bootstrapSeed = 1;

type SurvivalFigures = Omit<RunSurvival, "evaluator" | "profile_name" | "profile_id" | "profile_revision">;

/** The curve of first divergences. Trajectories that a run has not begun are left out. */
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

/** Repeats of a trajectory depend on each other; with repeats, intervals therefore come from resampled trajectories. */
async function curveOf(trajectories: readonly (readonly FirstDivergence[])[], hasRepeats: boolean) {
  const { steps, median } = hasRepeats
    ? await bootstrapSurvival(trajectories, bootstrapSeed)
    : survival(trajectories.flat());
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

/** The outcomes of each repeat that was begun, up to the last existing one. */
function stepsByRepeat(indexes: Int32Array, { step }: RunSamples, { repeats, of }: Outcomes) {
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
