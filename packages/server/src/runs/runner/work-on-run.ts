import pMap, { pMapSkip } from "p-map";
import { hasFailed } from "../../evaluators/outcome.ts";
import type { ResolvedEvaluator } from "../../evaluators/resolve-evaluators.ts";
import { SpendingRefusedError } from "../../platform/errors.ts";
import type { RoomForBytes } from "../../platform/limits/memory.ts";
import type { BackgroundTurns } from "../../platform/limits/turns.ts";
import type { RunSpan, StepSpan, Tracing } from "../../platform/observability/tracing.ts";
import { doTogether } from "../../platform/storage/batches.ts";
import type { SampleTraitsTable } from "../../platform/storage/schema/runs.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { ExampleServices } from "../../worlds/choose-examples.ts";
import type { ReadyWorld } from "../../worlds/world.ts";
import {
  asksDeployment,
  countNames,
  noCounts,
  type Run,
  type RunDataset,
  type RunTries,
  type TrajectoryLength,
  type WorkCounts,
} from "../run.ts";
import { type AskServices, askDeployment, stepsTold, type TargetServices } from "./ask-deployment.ts";
import { answerFromRevision, countNextStates, type MostFrequent } from "./baselines.ts";
import { evaluateStep, readTraits, resolveRunEvaluators, type StepServices } from "./evaluate-step.ts";
import type { Pace } from "./pace.ts";
import { createPredictor, type PredictionRows, type Predictor, toRows } from "./predict-step.ts";
import {
  memoryOf,
  missingSteps,
  type Step,
  type StepPrediction,
  stepsOfTrajectory,
  trajectoriesOf,
} from "./steps.ts";
import type { RunWork } from "./work-store.ts";

/** Stores work. Returns false if another process has taken the run. */
export type WriteWork = (work: RunWork) => Promise<boolean>;

export interface RunnerServices
  extends StepServices,
    Omit<AskServices, "deployments">,
    ExampleServices,
    TargetServices {
  writeWork: WriteWork;
  /** Multiplies the pauses before retries. */
  patience: number;
  /** Steps take a turn before each piece of work, so that live requests come first. */
  turns: BackgroundTurns;
  /** The memory for the texts of steps in progress. */
  room: RoomForBytes;
  /** Says how little room the disk has, if it is too little for a run. */
  findShortage(): Promise<string | undefined>;
  /** Traces a process's work on a run. Absent if there are no traces. */
  startSpan?: Tracing["startRun"] | undefined;
}

/** What one process needs to work on one run. */
export interface RunWorker {
  services: RunnerServices;
  run: Run & { dataset: RunDataset };
  /** The run's target, if it is a world. */
  world: ReadyWorld | undefined;
  span: RunSpan | undefined;
  reader: Database;
  writer: WorkWriter;
  pace: Pace;
  /** Counted up with each failed call. */
  tries: RunTries;
  /** Aborts the work in progress. */
  signal: AbortSignal;
  /** Whether no further step may begin, because the run was paused. */
  isStopping(): boolean;
  /** Called if a budget refuses to pay for a step, with the reason: no further step must begin. */
  onRefused(reason: string): void;
  /** Called with the model that a response names. */
  onModel(model: string): void;
}

/** Without calls to a deployment, a run is bound by the store: many steps share a commit. */
const stepsAtOnceWithoutCalls = 128;

/** Does all missing work of a run. Returns early if it is stopping. */
export async function workOnRun(worker: RunWorker): Promise<void> {
  const { services, run, world, reader, pace, signal, isStopping } = worker;
  const evaluators = await resolveRunEvaluators(services, run);
  const predictor = createPredictor(run, {
    predict: (request, signalOfStep) => askDeployment(services, request, signalOfStep),
    tries: worker.tries,
    patience: services.patience,
    pace,
    isStopping,
    mostFrequent: await composeMostFrequent(worker),
    answerFromRecords:
      run.target.kind === "retrieval"
        ? answerFromRevision(services, reader, { ...run.dataset, accountId: run.account_id })
        : undefined,
    worldRun: world && { services, reader, run, world },
  });
  const steps: StepWorker = { ...worker, evaluators, predictor };
  const asks = asksDeployment(run) && !run.provenance.finished_early;
  const concurrency = asks ? run.concurrency : stepsAtOnceWithoutCalls;
  async function workOnAll<Item>(items: AsyncGenerator<Item, void>, work: (item: Item) => Promise<unknown>) {
    const workOnOne = async (item: Item) => {
      await work(item);
      // Keeps `pMap` from collecting a list of results.
      return pMapSkip;
    };
    await pMap(whileGoingOn(worker, items), workOnOne, { concurrency, signal });
  }

  if (run.mode === "teacher-forced")
    await workOnAll(missingSteps(reader, run), (step) => workOnStep(steps, step, []));
  else await workOnAll(trajectoriesOf(reader, run), (one) => workOnTrajectory(steps, one));
}

/** Also pauses while others wait for room, so that no more samples are read than there is room for. */
async function* whileGoingOn<Item>(
  { isStopping, services, signal }: RunWorker,
  items: AsyncGenerator<Item, void>,
): AsyncGenerator<Item, void> {
  for await (const item of items) {
    if (isStopping()) return;
    yield item;
    await services.room.untilNobodyWaits(signal);
  }
}

async function composeMostFrequent({ reader, run, signal }: RunWorker): Promise<MostFrequent | undefined> {
  const { target, dataset } = run;
  if (target.kind !== "most-frequent") return undefined;
  const revisionId = target.from?.revisionId ?? dataset.revisionId;
  return await countNextStates(reader, revisionId, { leavesOut: revisionId === dataset.revisionId, signal });
}

interface StepWorker extends RunWorker {
  evaluators: readonly (ResolvedEvaluator & { index: number })[];
  predictor: Predictor;
}

/** In a long trajectory, steps that are not reached are stored in batches. */
const notReachedAtOnce = 500;

const notReached = { category: "not_reached", message: "An earlier step of the trajectory failed." } as const;

/** In a free-running trajectory, the steps after a failed one cannot be predicted. */
async function workOnTrajectory(worker: StepWorker, trajectory: TrajectoryLength & { repeat: number }) {
  const { services, run, signal, writer } = worker;
  const predicted: string[] = [];
  let rest = { predictions: [] as PredictionRows[], traits: [] as SampleTraitsTable[] };
  let isCutOff = false;

  async function storeRest(): Promise<void> {
    const { length } = rest.predictions;
    if (length === 0) return;
    const counts = { evaluated: length, failed: length, unpredicted: length };
    await writer.add({ ...rest, counts });
    rest = { predictions: [], traits: [] };
  }

  for await (const step of stepsOfTrajectory(worker.reader, run, trajectory)) {
    if (worker.isStopping()) return;
    if (isCutOff && step.prediction === undefined) {
      rest.predictions.push(toRows(run, step, { failure: notReached }));
      if (step.needsTraits) rest.traits.push(await readTraits(services, run, step, signal));
      if (rest.predictions.length === notReachedAtOnce) await storeRest();
      continue;
    }
    const end = await workOnStep(worker, step, predicted);
    isCutOff ||= end.hasFailed;
    if (end.output !== undefined) predicted.push(end.output);
    // Only a conversation, or a world that is told the earlier steps, needs more than the last prediction.
    if (step.sample.messages === undefined) predicted.splice(0, predicted.length - stepsTold(worker.world));
  }
  await storeRest();
}

interface StepEnd {
  /** Undefined if there is no prediction. */
  output: string | undefined;
  /** Whether the prediction or a verdict failed. */
  hasFailed: boolean;
}

/** Predicts a step and has it judged, as far as that is still missing, once there is room for its texts. */
async function workOnStep(worker: StepWorker, step: Step, predicted: readonly string[]): Promise<StepEnd> {
  const { room, turns } = worker.services;
  const giveBack = await room.take(memoryOf(step.sample), worker.signal);
  try {
    await turns.take(worker.signal);
    const span = worker.span?.startStep({ sampleId: step.sample.dataset_sample_id, repeat: step.repeat });
    const working = workInTurn(worker, step, predicted, span);
    span?.endAfter(working);
    return await working;
  } catch (error) {
    if (!(error instanceof SpendingRefusedError)) throw error;
    // The step is still missing, as if its turn had not come. Everything else in progress is paid for, and is stored.
    worker.onRefused(error.message);
    return { output: undefined, hasFailed: false };
  } finally {
    giveBack();
  }
}

async function workInTurn(
  worker: StepWorker,
  step: Step,
  predicted: readonly string[],
  span: StepSpan | undefined,
): Promise<StepEnd> {
  const { services, run, signal, writer } = worker;
  const prediction = step.prediction ?? (await predictAndStore(worker, step, predicted, span));
  if (prediction === undefined) return { output: undefined, hasFailed: false };
  const { output, model } = prediction;
  if (output === undefined || step.missingEvaluators.length === 0) {
    const areStored = step.prediction === undefined && output === undefined;
    if (step.needsTraits && !areStored)
      await writer.add({ traits: [await readTraits(services, run, step, signal)] });
    return { output, hasFailed: output === undefined || step.hasFailedVerdict };
  }
  // Many predictions are stored by one commit.
  if (step.prediction === undefined) await services.turns.take(signal);
  const evaluators = worker.evaluators.filter(({ index }) => step.missingEvaluators.includes(index));
  const judged = await evaluateStep(services, run, evaluators, step, { output, model, span }, signal);
  const { verdicts, changes, repaired } = judged;
  const traits = step.needsTraits ? [await readTraits(services, run, step, signal, changes)] : [];
  const isFailure = step.hasFailedVerdict || verdicts.some(hasFailed);
  await writer.add({
    verdicts,
    traits,
    counts: { evaluated: 1, failed: isFailure ? 1 : 0, repaired },
  });
  return { output, hasFailed: isFailure };
}

/** Predicts a step. A failed prediction is stored with the sample's traits, as nothing else follows. Undefined if paused first. */
async function predictAndStore(
  worker: StepWorker,
  step: Step,
  predicted: readonly string[],
  span: StepSpan | undefined,
): Promise<StepPrediction | undefined> {
  const { services, run, signal, writer, predictor } = worker;
  const outcome = await predictor(step, predicted, signal, span);
  if (outcome === undefined) return undefined;
  const rows = toRows(run, step, outcome);
  const { output } = rows.payload;
  const { model } = rows.row;
  if (model !== null) worker.onModel(model);
  const counts =
    output === null
      ? { evaluated: 1, failed: 1, unpredicted: 1 }
      : {
          predicted: 1,
          truncated: rows.row.finish_reason === "length" ? 1 : 0,
          empty: output.trim() === "" ? 1 : 0,
        };
  const traits = output === null && step.needsTraits ? [await readTraits(services, run, step, signal)] : [];
  await writer.add({ predictions: [rows], traits, counts });
  return { output: output ?? undefined, model };
}

type WorkPart = Partial<Pick<RunWork, "predictions" | "verdicts" | "traits">> & {
  counts?: Partial<WorkCounts>;
};

/** Another process works on the run, or the run was cancelled. */
export class LostRunError extends Error {
  constructor() {
    super("The run is not this process's any more");
    this.name = "LostRunError";
  }
}

type WorkWriter = ReturnType<typeof createWorkWriter>;

/** Parts that are added at the same time share a commit. */
export function createWorkWriter(ids: Pick<RunWork, "runId" | "leaseId">, write: WriteWork) {
  const add = doTogether<WorkPart, boolean>(async (parts) => {
    const isStored = await write({ ...ids, ...together(parts) });
    return parts.map(() => isStored);
  });
  return {
    /** Returns once the part is on disk. */
    async add(part: WorkPart): Promise<void> {
      if (!(await add(part))) throw new LostRunError();
    },
  };
}

function together(parts: readonly WorkPart[]): Omit<RunWork, "runId" | "leaseId"> {
  return {
    predictions: parts.flatMap(({ predictions = [] }) => predictions),
    verdicts: parts.flatMap(({ verdicts = [] }) => verdicts),
    traits: parts.flatMap(({ traits = [] }) => traits),
    counts: parts.reduce(
      (sum, { counts = {} }) => {
        for (const name of countNames) sum[name] += counts[name] ?? 0;
        return sum;
      },
      { ...noCounts },
    ),
  };
}
