import type { Context, DatasetSample, Interaction } from "@presage/contract";
import { readPlacedSamples } from "../../datasets/samples.ts";
import { type SampleSize, selectEarlierPositions, selectSizes } from "../../datasets/samples-store.ts";
import type { Requester } from "../../platform/storage/reader.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { EvaluationServices } from "../../results/evaluation-services.ts";
import type { Run, RunDataset } from "../run.ts";
import { selectRun } from "../runs-store.ts";
import { paramsOf } from "./predictor.ts";
import { promptOf } from "./run-sample.ts";
import { selectKeptPredictions, selectOutputs } from "./run-work-store.ts";

/** Answers that a conversation may repeat. */
const maxEarlierSteps = 500;

/** A prediction of a run, by its place. */
export interface RunPredictionPlace {
  run_id: string | null;
  position: number | null;
  repeat: number | null;
}

/** The prompt of a run's sample. */
export interface RunPrompt {
  context: Context | null;
  interaction: Interaction | null;
  messages: Record<string, unknown>[] | null;
  params: Record<string, unknown> | null;
  requested_model: string | null;
}

/** The sample of a prediction of a run; undefined if its run or its revision is gone. */
export interface PromptSource {
  run: Run;
  dataset: RunDataset;
  size: SampleSize;
  repeat: number;
}

/** Where the prompt of a run's prediction is to be read from, and how long it is. */
export async function findPromptSource(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  { run_id, position, repeat }: RunPredictionPlace,
): Promise<PromptSource | undefined> {
  if (run_id === null || position === null || repeat === null) return undefined;
  const reader = store.briefReader(requester);
  const run = await selectRun(reader, requester.accountId, run_id);
  if (run?.dataset === undefined) return undefined;
  const [size] = await selectSizes(reader, run.dataset.revisionId, { after: position - 1, limit: 1 });
  return size?.position === position ? { run, dataset: run.dataset, size, repeat } : undefined;
}

/** What a run asked for a sample: the recorded step, in free-running mode with what was predicted before it. */
export async function readRunPrompt(
  { store }: Pick<EvaluationServices, "store">,
  requester: Requester,
  { run, dataset, size, repeat }: PromptSource,
): Promise<RunPrompt | undefined> {
  const reader = store.briefReader(requester);
  for await (const [placed] of readPlacedSamples(reader, dataset.revisionId, [size])) {
    if (placed === undefined) continue;
    const { sample } = placed;
    const isTold = run.mode === "free-running" && sample.step > 0;
    const predicted = isTold ? await readPredicted(reader, run, dataset, sample, repeat) : [];
    const { interaction } = sample;
    const { target } = run;
    return {
      context: sample.context ?? null,
      interaction: interaction ? { ...interaction, state: predicted.at(-1) ?? interaction.state } : null,
      messages: interaction ? null : promptOf(sample, predicted).map((turn) => ({ ...turn })),
      params: target.kind === "deployment" ? { ...paramsOf(run, repeat) } : null,
      requested_model: target.kind === "deployment" ? (target.model ?? null) : null,
    };
  }
  return undefined;
}

/** The predictions of the steps before a sample, which the model was told; of an interaction only the last one. */
async function readPredicted(
  reader: Database,
  run: Pick<Run, "id">,
  { revisionId }: RunDataset,
  { trajectory_id, step, interaction }: DatasetSample,
  repeat: number,
): Promise<string[]> {
  const limit = interaction ? 1 : maxEarlierSteps;
  const positions = await selectEarlierPositions(reader, revisionId, { trajectory_id, step, limit });
  const kept = await selectKeptPredictions(reader, run.id, positions);
  const ofRepeat = new Map(kept.filter((one) => one.repeat === repeat).map((one) => [one.position, one.id]));
  const outputs = await selectOutputs(reader, [...ofRepeat.values()]);
  return positions.flatMap((position) => outputs.get(ofRepeat.get(position) ?? "") ?? []);
}
