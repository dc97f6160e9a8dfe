import type { DatasetSample } from "@presage/contract";
import { readPlacedSamples } from "../../datasets/samples.ts";
import { type SampleSize, selectSizes, selectTrajectorySizes } from "../../datasets/samples-store.ts";
import { hasFailed } from "../../evaluators/outcome.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Run, RunDataset } from "../run.ts";
import {
  selectKeptPredictions,
  selectKeptVerdicts,
  selectOutputs,
  selectTraitPositions,
  selectTrajectoryIds,
} from "./run-work-store.ts";

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
  /** Places of evaluators whose outcome is missing. */
  missing: readonly number[];
  /** Whether an evaluator failed on it before. */
  hasFailedVerdict: boolean;
  /** Whether what reports group the sample by is missing; of its first repeat only. */
  needsTraits: boolean;
}

type WorkedOn = Pick<Run, "id" | "evaluators" | "repeats"> & { dataset: RunDataset };

/** How many samples are looked at together. */
const pageSize = 250;
const trajectoriesAtOnce = 100;

/** All steps that lack something, in the order of the dataset. */
export async function* missingSteps(reader: Database, run: WorkedOn): AsyncGenerator<Step, void> {
  const repeats = Array.from({ length: run.repeats }, (_, repeat) => repeat);
  for (let after = 0; ; ) {
    const sizes = await selectSizes(reader, run.dataset.revisionId, { after, limit: pageSize });
    yield* stepsOf(reader, run, sizes, { repeats, isWanted: isIncomplete });
    const last = sizes.at(-1);
    if (last === undefined || sizes.length < pageSize) return;
    after = last.position;
  }
}

/** Each trajectory with each repeat. */
export async function* trajectoriesOf(
  reader: Database,
  { dataset, repeats }: WorkedOn,
): AsyncGenerator<{ trajectoryId: string; repeat: number }, void> {
  for (let after = ""; ; ) {
    const ids = await selectTrajectoryIds(reader, dataset.revisionId, after, trajectoriesAtOnce);
    for (const trajectoryId of ids) {
      for (let repeat = 0; repeat < repeats; repeat += 1) yield { trajectoryId, repeat };
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < trajectoriesAtOnce) return;
    after = last;
  }
}

/** All steps of a trajectory in their order. */
export async function* stepsOfTrajectory(
  reader: Database,
  run: WorkedOn,
  { trajectoryId, repeat }: { trajectoryId: string; repeat: number },
): AsyncGenerator<Step, void> {
  const select = async (after: number) =>
    await selectTrajectorySizes(reader, run.dataset.revisionId, trajectoryId, { after, limit: pageSize });
  for (let after = -1; ; ) {
    const sizes = await select(after);
    yield* stepsOf(reader, run, sizes, { repeats: [repeat], isWanted: () => true });
    const last = sizes.at(-1);
    if (last === undefined || sizes.length < pageSize) return;
    after = last.step;
  }
}

type StepState = Omit<Step, "sample" | "prediction"> & {
  predictionId: string | undefined;
  isFailed: boolean;
  model: string | null;
};

function isIncomplete({ predictionId, isFailed, missing, needsTraits }: StepState): boolean {
  return predictionId === undefined || (!isFailed && missing.length > 0) || needsTraits;
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
  for await (const piece of readPlacedSamples(reader, run.dataset.revisionId, wanted)) {
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
    selectKeptPredictions(reader, run.id, positions),
    selectKeptVerdicts(reader, run.id, run.evaluators.length, positions),
    selectTraitPositions(reader, run.dataset.revisionId, positions),
  ]);
  const keyOf = (one: { position: number; repeat: number }) => `${one.position}/${one.repeat}`;
  const predictionOf = new Map(predictions.map((prediction) => [keyOf(prediction), prediction]));
  const verdictsOf = Map.groupBy(verdicts, keyOf);
  return positions.flatMap((position) =>
    repeats.map((repeat) => {
      const key = keyOf({ position, repeat });
      const prediction = predictionOf.get(key);
      const kept = verdictsOf.get(key) ?? [];
      const there = new Set(kept.map(({ evaluator }) => evaluator));
      return {
        position,
        repeat,
        predictionId: prediction?.id,
        isFailed: prediction?.status === "failed",
        model: prediction?.model ?? null,
        missing: run.evaluators.flatMap((_, index) => (there.has(index) ? [] : [index])),
        hasFailedVerdict: kept.some(hasFailed),
        needsTraits: repeat === 0 && !withTraits.has(position),
      };
    }),
  );
}
