import type { DatasetSample } from "@presage/contract";
import { composePrompt, composeSystemTurn, composeUserTurn } from "@presage/contract/compose-prompt";
import { readSamplesAt } from "../../datasets/samples.ts";
import { type SampleSize, selectSizes, selectTrajectorySizes } from "../../datasets/samples-store.ts";
import { hasFailed, type Sample } from "../../evaluators/outcome.ts";
import { toStorableText } from "../../platform/storage/columns.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { drawTrajectories, type Run, type RunDataset, type TrajectoryLength } from "../run.ts";
import {
  selectOutputs,
  selectStoredPredictions,
  selectStoredVerdicts,
  selectTraitPositions,
  selectTrajectoryLengths,
} from "./work-store.ts";

/** A prediction that a run already has. */
export interface StepPrediction {
  /** Undefined if it failed. */
  output: string | undefined;
  model: string | null;
}

/** One sample and repeat of a run, and its stored state. */
export interface Step {
  position: number;
  repeat: number;
  sample: DatasetSample;
  prediction: StepPrediction | undefined;
  /** Indexes of evaluators whose outcome is missing. */
  missingEvaluators: readonly number[];
  /** Whether an evaluator failed on it earlier. */
  hasFailedVerdict: boolean;
  /** Whether the sample's traits for reports are missing; only for its first repeat. */
  needsTraits: boolean;
}

type WorkedOn = Pick<Run, "id" | "evaluators" | "repeats" | "provenance"> & { dataset: RunDataset };

/** The number of samples that are looked at together. */
const pageSize = 250;
const trajectoriesAtOnce = 100;

/** All incomplete steps, in the order of the dataset. */
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

/** All trajectories of the revision, or those that were drawn. */
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

/** The steps of a trajectory that the run predicts, in order. */
export async function* stepsOfTrajectory(
  reader: Database,
  run: WorkedOn,
  { repeat, ...trajectory }: TrajectoryLength & { repeat: number },
): AsyncGenerator<Step, void> {
  for await (const sizes of sizesOf(reader, run, trajectory))
    yield* stepsOf(reader, run, sizes, { repeats: [repeat], isWanted: () => true });
}

/** The wanted number of a trajectory's samples, from the first step on. */
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

export interface PromptTurn {
  role: "system" | "user" | "assistant";
  content: string;
}

/** The recorded state before the action; in a conversation, the last assistant turn before the user's last one. */
export function stateOf({ interaction, messages = [] }: DatasetSample): string {
  if (interaction) return interaction.state;
  return messages.findLast(({ role }) => role === "assistant")?.content ?? "";
}

/** The action; in a conversation, the user's last turn. */
export function actionOf({ interaction, messages = [] }: DatasetSample): string {
  if (interaction) return interaction.action;
  return messages.findLast(({ role }) => role === "user")?.content ?? "";
}

/**
 * The prompt for the model. `predicted` are its answers to the trajectory's earlier steps: they replace the recorded state, or in a
 * conversation the recorded assistant turns.
 */
export function promptOf(sample: DatasetSample, predicted: readonly string[] = []): PromptTurn[] {
  const { context, interaction, messages = [] } = sample;
  if (interaction) {
    const state = predicted.at(-1) ?? interaction.state;
    return composePrompt(context, { state, action: interaction.action });
  }
  const turns = messages.map((message) => ({ ...message }));
  const answers = turns.filter(({ role }) => role === "assistant");
  // The last answer is that of the step before this one.
  for (let back = 1; back <= Math.min(answers.length, predicted.length); back += 1) {
    const turn = answers.at(-back);
    if (turn !== undefined) turn.content = predicted.at(-back) ?? turn.content;
  }
  return turns;
}

/**
 * The sample that evaluators see: the recorded state and action, the prediction and the recorded next state. All texts are in their
 * storable form, like predictions, so that a correct prediction is equal.
 */
export function toEvaluated(sample: DatasetSample, output: string): Sample {
  const systemPrompt = systemPromptOf(sample);
  return {
    systemPrompt: systemPrompt === undefined ? undefined : toStorableText(systemPrompt),
    input: toStorableText(composeUserTurn({ state: stateOf(sample), action: actionOf(sample) })),
    output: toStorableText(output),
    goldAnswer: toStorableText(sample.next_state),
  };
}

function systemPromptOf({ context, interaction, messages = [] }: DatasetSample): string | undefined {
  if (interaction) return composeSystemTurn(context) || undefined;
  const [first] = messages;
  return first?.role === "system" ? first.content : undefined;
}

/** The memory of a step in progress: its texts as objects, in what is sent and in what is stored, in up to two bytes per character. */
const bytesPerCharacter = 10;

export function memoryOf({ context, interaction, messages = [], next_state }: DatasetSample): number {
  const texts = [next_state, interaction?.state, interaction?.action, ...Object.values(context ?? {})];
  const characters = [...texts, ...messages.map(({ content }) => content)].reduce<number>(
    (sum, text) => sum + (typeof text === "string" ? text.length : 0),
    0,
  );
  return characters * bytesPerCharacter;
}
