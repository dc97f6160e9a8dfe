import type { DatasetSample } from "@presage/contract";
import { readSamplesAt } from "../../datasets/samples.ts";
import { type SampleSize, selectEarlierPositions, selectSizes } from "../../datasets/samples-store.ts";
import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../../platform/storage/store.ts";
import type { FindPrompt, MadePrompt } from "../../predictions/stored-predictions.ts";
import { paramsThrough } from "../../worlds/complete-through-world.ts";
import { selectWorld } from "../../worlds/worlds-store.ts";
import { asksDeployment, type Run, type RunDataset } from "../run.ts";
import { selectRun } from "../runs-store.ts";
import { paramsOf } from "./predict-step.ts";
import { promptOf } from "./steps.ts";
import { selectOutputs, selectStoredPredictions } from "./work-store.ts";

/** The most earlier answers that a conversation may repeat. */
const maxEarlierSteps = 500;

/** The sample of a run's prediction. */
interface PromptSource {
  run: Run;
  dataset: RunDataset;
  size: SampleSize;
  repeat: number;
}

/** Where to read the prompt of a run's prediction; undefined if the run or its revision was deleted. */
export async function findRunPrompt(
  services: { store: Store },
  requester: Requester,
  { run_id, position, repeat }: Parameters<FindPrompt>[1],
): ReturnType<FindPrompt> {
  if (run_id === null || position === null || repeat === null) return undefined;
  const reader = services.store.briefReader(requester);
  const run = await selectRun(reader, requester.accountId, run_id);
  if (run?.dataset === undefined) return undefined;
  const { dataset } = run;
  const [size] = await selectSizes(reader, dataset.revisionId, { after: position - 1, limit: 1 });
  if (size?.position !== position) return undefined;
  return { bytes: size.bytes, read: () => readPrompt(services, requester, { run, dataset, size, repeat }) };
}

/** The prompt that a run sent for a sample: the recorded step, in free-running mode with the earlier predictions. */
async function readPrompt(
  { store }: { store: Store },
  requester: Requester,
  { run, dataset, size, repeat }: PromptSource,
): Promise<MadePrompt | undefined> {
  const reader = store.briefReader(requester);
  for await (const [placed] of readSamplesAt(reader, dataset.revisionId, [size])) {
    if (placed === undefined) continue;
    const { sample } = placed;
    const isTold = run.mode === "free-running" && sample.step > 0;
    const predicted = isTold ? await readPredicted(reader, run, dataset, sample, repeat) : [];
    const { interaction } = sample;
    const { target } = run;
    const sent = await readSentParams(reader, run);
    return {
      context: sample.context ?? null,
      interaction: interaction ? { ...interaction, state: predicted.at(-1) ?? interaction.state } : null,
      messages: interaction ? null : promptOf(sample, predicted).map((turn) => ({ ...turn })),
      params: sent && { ...paramsOf({ params: sent }, repeat) },
      requested_model: target.kind === "deployment" ? (target.model ?? null) : null,
    };
  }
  return undefined;
}

/** Null if no model was asked. If the world was deleted, only the run's own params are known. */
async function readSentParams(reader: Database, run: Run): Promise<Run["params"]> {
  const { target, params } = run;
  if (!asksDeployment(run)) return null;
  const world = target.kind === "world" ? await selectWorld(reader, run.account_id, target) : undefined;
  return world ? paramsThrough(world, params) : (params ?? {});
}

/** The predictions of the steps before a sample that the model was told; for an interaction, only the last one. */
async function readPredicted(
  reader: Database,
  run: Pick<Run, "id">,
  { revisionId }: RunDataset,
  { trajectory_id, step, interaction }: DatasetSample,
  repeat: number,
): Promise<string[]> {
  const limit = interaction ? 1 : maxEarlierSteps;
  const positions = await selectEarlierPositions(reader, revisionId, { trajectory_id, step, limit });
  const stored = await selectStoredPredictions(reader, run.id, positions);
  const ofRepeat = new Map(
    stored.filter((one) => one.repeat === repeat).map((one) => [one.position, one.id]),
  );
  const outputs = await selectOutputs(reader, [...ofRepeat.values()]);
  return positions.flatMap((position) => outputs.get(ofRepeat.get(position) ?? "") ?? []);
}
