import type { DatasetSample } from "@presage/contract";
import { readSamplesAt } from "../../datasets/samples.ts";
import { type SampleSize, selectSizes, selectTrajectorySizes } from "../../datasets/samples-store.ts";
import { hasFailed } from "../../evaluators/outcome.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { drawTrajectories, type Run, type RunDataset, type TrajectoryLength } from "../run.ts";
import {
  selectOutputs,
  selectStoredPredictions,
  selectStoredVerdicts,
  selectTraitPositions,
  selectTrajectoryLengths,
} from "./work-store.ts";

/** A prediction that a run has. */
export interface StepPrediction {
  /** Undefined: it failed. */
  output: string | undefined;
  model: string | null;
}

/** One sample and repeat of a run, and what is already stored of it. */
export interface Step {
  position: number;
  repeat: number;
  sample: DatasetSample;
  prediction: StepPrediction | undefined;
  /** Indexes of evaluators whose outcome is missing. */
  missingEvaluators: readonly number[];
  /** Whether an evaluator failed on it before. */
  hasFailedVerdict: boolean;
  /** Whether what reports group the sample by is missing; of its first repeat only. */
  needsTraits: boolean;
}

type WorkedOn = Pick<Run, "id" | "evaluators" | "repeats" | "provenance"> & { dataset: RunDataset };

/** How many samples are looked at together. */
const pageSize = 250;
const trajectoriesAtOnce = 100;

/** All steps that lack something, in the order of the dataset. */
export async function* missingSteps(reader: Database, run: WorkedOn): AsyncGenerator<Step, void> {
  const repeats = Array.from({ length: run.repeats }, (_, repeat) => repeat);
  if (run.provenance.draw !== undefined) {
    for await (const trajectory of trajectoriesToPredict(reader, run))
      for await (const sizes of sizesOf(reader, run, trajectory))
        yield* stepsOf(reader, run, sizes, { repeats, isWanted: isIncomplete });
    return;
  }
  for (let after = 0; ; ) {
    const sizes = await selectSizes(reader, run.dataset.revisionId, { after, limit: pageSize });
    yield* stepsOf(reader, run, sizes, { repeats, isWanted: isIncomplete });
    const last = sizes.at(-1);
    if (last === undefined || sizes.length < pageSize) return;
    after = last.position;
  }
}

export async function* trajectoriesOf(
  reader: Database,
  run: WorkedOn,
): AsyncGenerator<TrajectoryLength & { repeat: number }, void> {
  for await (const trajectory of trajectoriesToPredict(reader, run))
    for (let repeat = 0; repeat < run.repeats; repeat += 1) yield { ...trajectory, repeat };
}

/** All of the revision, or those that were drawn. */
async function* trajectoriesToPredict(
  reader: Database,
  { dataset, provenance: { draw } }: WorkedOn,
): AsyncGenerator<TrajectoryLength, void> {
  const all = trajectoriesOfRevision(reader, dataset.revisionId);
  if (draw === undefined) return yield* all;
  for (const [trajectoryId, samples] of await drawTrajectories(all, draw)) yield { trajectoryId, samples };
}

async function* trajectoriesOfRevision(
  reader: Database,
  revisionId: number,
): AsyncGenerator<TrajectoryLength, void> {
  for (let after = ""; ; ) {
    const some = await selectTrajectoryLengths(reader, revisionId, after, trajectoriesAtOnce);
    yield* some;
    const last = some.at(-1);
    if (last === undefined || some.length < trajectoriesAtOnce) return;
    after = last.trajectoryId;
  }
}

/** The steps of a trajectory that the run predicts, in their order. */
export async function* stepsOfTrajectory(
  reader: Database,
  run: WorkedOn,
  { repeat, ...trajectory }: TrajectoryLength & { repeat: number },
): AsyncGenerator<Step, void> {
  for await (const sizes of sizesOf(reader, run, trajectory))
    yield* stepsOf(reader, run, sizes, { repeats: [repeat], isWanted: () => true });
}

/** As many samples of a trajectory as are wanted, from the first step on. */
async function* sizesOf(
  reader: Database,
  { dataset }: WorkedOn,
  { trajectoryId, samples }: TrajectoryLength,
): AsyncGenerator<SampleSize[], void> {
  for (let after = -1, left = samples; left > 0; ) {
    const page = { after, limit: Math.min(left, pageSize) };
    const sizes = await selectTrajectorySizes(reader, dataset.revisionId, trajectoryId, page);
    const last = sizes.at(-1);
    if (last === undefined) return;
    yield sizes;
    after = last.step;
    left -= sizes.length;
  }
}

type StepState = Omit<Step, "sample" | "prediction"> & {
  predictionId: string | undefined;
  isFailed: boolean;
  model: string | null;
};

function isIncomplete({ predictionId, isFailed, missingEvaluators, needsTraits }: StepState): boolean {
  return predictionId === undefined || (!isFailed && missingEvaluators.length > 0) || needsTraits;
}

async function* stepsOf(
  reader: Database,
  run: WorkedOn,
  sizes: readonly SampleSize[],
  { repeats, isWanted }: { repeats: readonly number[]; isWanted(state: StepState): boolean },
): AsyncGenerator<Step, void> {
  const states = (await readStates(reader, run, sizes, repeats)).filter(isWanted);
  const byPosition = Map.groupBy(states, ({ position }) => position);
  const wanted = sizes.filter(({ position }) => byPosition.has(position));
  for await (const piece of readSamplesAt(reader, run.dataset.revisionId, wanted)) {
    const ofPiece = piece.flatMap(({ position }) => byPosition.get(position) ?? []);
    const outputs = await selectOutputs(
      reader,
      ofPiece.flatMap(({ predictionId, isFailed }) => (isFailed ? [] : (predictionId ?? []))),
    );
    for (const { position, sample } of piece) {
      for (const { predictionId, isFailed, model, ...state } of byPosition.get(position) ?? []) {
        const output = isFailed || predictionId === undefined ? undefined : outputs.get(predictionId);
        yield { ...state, sample, prediction: predictionId === undefined ? undefined : { output, model } };
      }
    }
  }
}

async function readStates(
  reader: Database,
  run: WorkedOn,
  sizes: readonly SampleSize[],
  repeats: readonly number[],
): Promise<StepState[]> {
  const positions = sizes.map(({ position }) => position);
  const [predictions, verdicts, withTraits] = await Promise.all([
    selectStoredPredictions(reader, run.id, positions),
    selectStoredVerdicts(reader, run.id, run.evaluators.length, positions),
    selectTraitPositions(reader, run.dataset.revisionId, positions),
  ]);
  const keyOf = (one: { position: number; repeat: number }) => `${one.position}/${one.repeat}`;
  const predictionOf = new Map(predictions.map((prediction) => [keyOf(prediction), prediction]));
  const verdictsOf = Map.groupBy(verdicts, keyOf);
  return positions.flatMap((position) =>
    repeats.map((repeat) => {
      const key = keyOf({ position, repeat });
      const prediction = predictionOf.get(key);
      const stored = verdictsOf.get(key) ?? [];
      const there = new Set(stored.map(({ evaluator }) => evaluator));
      return {
        position,
        repeat,
        predictionId: prediction?.id,
        isFailed: prediction?.status === "failed",
        model: prediction?.model ?? null,
        missingEvaluators: run.evaluators.flatMap((_, index) => (there.has(index) ? [] : [index])),
        hasFailedVerdict: stored.some(hasFailed),
        needsTraits: repeat === 0 && !withTraits.has(position),
      };
    }),
  );
}
