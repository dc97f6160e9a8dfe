import pMap, { pMapSkip } from "p-map";
import type { SampleTraitsTable } from "../../../storage/schema/runs.ts";
import type { Database } from "../../../storage/schema/tables.ts";
import type { ResolvedEvaluator } from "../../evaluate/resolve-evaluators.ts";
import type { EvaluationServices } from "../../evaluation-services.ts";
import { countNextStates, type MostFrequent } from "../baselines/most-frequent.ts";
import type { Run, RunDataset } from "../run.ts";
import { evaluateStep, readTraits, type StepServices } from "./evaluate-step.ts";
import {
  missingSteps,
  type Step,
  type StepPrediction,
  samplesWithoutTraits,
  stepsOfTrajectory,
  trajectoriesOf,
  unpredictedAfter,
} from "./missing-work.ts";
import type { Pace } from "./pace.ts";
import { createPredictor, type PredictionRows, type Predictor, toRows } from "./predictor.ts";
import { resolveRunEvaluators } from "./resolve-run-evaluators.ts";
import type { WorkWriter } from "./work-writer.ts";

export type RunnerServices = StepServices & Pick<EvaluationServices, "runs">;

/** What one process needs to work on one run. */
export interface RunWorker {
  services: RunnerServices;
  run: Run & { dataset: RunDataset };
  reader: Database;
  writer: WorkWriter;
  pace: Pace;
  /** Aborts what is in progress. */
  signal: AbortSignal;
  /** Whether no further step may begin, because the run was paused. */
  isStopping(): boolean;
  /** Called with the model that a response names. */
  onModel(model: string): void;
}

/** Without calls to a deployment, a run is bound by the store: many steps share a commit. */
const stepsAtOnceWithoutCalls = 128;

/** Does all that is missing of a run. Returns early if it is stopping. */
export async function workOnRun(worker: RunWorker): Promise<void> {
  const { services, run, reader, pace, signal } = worker;
  const evaluators = await resolveRunEvaluators(services, run);
  const predictor = createPredictor(run, {
    predict: services.runs.predict,
    pace,
    mostFrequent: await composeMostFrequent(reader, run),
  });
  const steps: StepWorker = { ...worker, evaluators, predictor };
  const concurrency = run.target.kind === "deployment" ? run.concurrency : stepsAtOnceWithoutCalls;
  if (run.mode === "teacher-forced") {
    const missing = whileGoingOn(worker, missingSteps(reader, run));
    await pMap(missing, async (step) => skipResult(await workOnStep(steps, step, [])), {
      concurrency,
      signal,
    });
  } else {
    const trajectories = whileGoingOn(worker, trajectoriesOf(reader, run));
    await pMap(trajectories, async (one) => skipResult(await workOnTrajectory(steps, one)), {
      concurrency,
      signal,
    });
  }
  await keepMissingTraits(worker);
}

/** Of samples that no step reached: an uploaded prediction says that it failed, or a free-running trajectory ended before them. */
async function keepMissingTraits(worker: RunWorker): Promise<void> {
  const { services, run, reader, writer, signal } = worker;
  for await (const piece of whileGoingOn(worker, samplesWithoutTraits(reader, run.dataset.revisionId))) {
    const traits = await Promise.all(piece.map((one) => readTraits(services, run, one, signal)));
    await writer.add({ traits });
  }
}

/** So that no list of results grows. */
function skipResult(_: unknown): typeof pMapSkip {
  return pMapSkip;
}

async function* whileGoingOn<Item>(
  { isStopping }: RunWorker,
  items: AsyncGenerator<Item, void>,
): AsyncGenerator<Item, void> {
  for await (const item of items) {
    if (isStopping()) return;
    yield item;
  }
}

async function composeMostFrequent(
  reader: Database,
  { target, dataset }: RunWorker["run"],
): Promise<MostFrequent | undefined> {
  if (target.kind !== "most-frequent") return undefined;
  const revisionId = target.from?.revisionId ?? dataset.revisionId;
  return await countNextStates(reader, revisionId, { leavesOut: revisionId === dataset.revisionId });
}

interface StepWorker extends RunWorker {
  evaluators: readonly (ResolvedEvaluator & { index: number })[];
  predictor: Predictor;
}

async function workOnTrajectory(
  worker: StepWorker,
  trajectory: { trajectoryId: string; repeat: number },
): Promise<void> {
  const predicted: string[] = [];
  for await (const step of stepsOfTrajectory(worker.reader, worker.run, trajectory)) {
    if (worker.isStopping()) return;
    const { output, isEnd } = await workOnStep(worker, step, predicted);
    if (output === undefined || isEnd) return;
    predicted.push(output);
  }
}

interface StepEnd {
  /** Undefined: there is no prediction. */
  output: string | undefined;
  /** Whether the trajectory ends here. */
  isEnd: boolean;
}

/** Predicts a step and has it judged, as far as that has not happened yet. */
async function workOnStep(worker: StepWorker, step: Step, predicted: readonly string[]): Promise<StepEnd> {
  const { output, model } = step.prediction ?? (await predictAndKeep(worker, step, predicted));
  if (output === undefined) return { output, isEnd: true };
  if (step.missing.length === 0) return { output, isEnd: false };
  const { services, run, signal, writer } = worker;
  const evaluators = worker.evaluators.filter(({ index }) => step.missing.includes(index));
  const [verdicts, traits] = await Promise.all([
    evaluateStep(services, run, evaluators, step, { output, model }, signal),
    // Those of a new prediction are stored with it.
    step.prediction === undefined ? [] : readMissingTraits(worker, step),
  ]);
  const hasFailed = verdicts.some(({ status }) => status !== "success");
  const givenUp = hasFailed ? await giveUpRest(worker, step) : [];
  await writer.add({
    verdicts,
    traits,
    predictions: givenUp,
    counts: {
      predicted: 0,
      evaluated: 1 + givenUp.length,
      failed: (hasFailed || step.hasFailedVerdict ? 1 : 0) + givenUp.length,
    },
  });
  return { output, isEnd: givenUp.length > 0 };
}

async function predictAndKeep(
  worker: StepWorker,
  step: Step,
  predicted: readonly string[],
): Promise<StepPrediction> {
  const { run, signal, writer, predictor } = worker;
  const [outcome, traits] = await Promise.all([
    predictor(step, predicted, signal),
    readMissingTraits(worker, step),
  ]);
  const kept = toRows(run, step, outcome);
  const { output } = kept.payload;
  const { model } = kept.row;
  if (model !== null) worker.onModel(model);
  const givenUp = output === null ? await giveUpRest(worker, step) : [];
  const ended = output === null ? 1 + givenUp.length : 0;
  await writer.add({
    predictions: [kept, ...givenUp],
    traits,
    counts: { predicted: output === null ? 0 : 1, evaluated: ended, failed: ended },
  });
  return { output: output ?? undefined, model };
}

async function readMissingTraits(
  { services, run, signal }: StepWorker,
  step: Step,
): Promise<SampleTraitsTable[]> {
  return step.hasTraits ? [] : [await readTraits(services, run, step, signal)];
}

/** In a free-running trajectory, nothing can be told to the steps behind a failed one. */
async function giveUpRest({ run, reader }: StepWorker, { sample, repeat }: Step): Promise<PredictionRows[]> {
  if (run.mode === "teacher-forced") return [];
  const positions = await unpredictedAfter(reader, run, { ...sample, repeat });
  const failure = { category: "not_reached", message: "An earlier step of the trajectory failed." } as const;
  return positions.map((position) => toRows(run, { position, repeat }, { failure, latencyMs: 0 }));
}
