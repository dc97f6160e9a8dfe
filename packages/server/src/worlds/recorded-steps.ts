import type { DatasetSample, HistoryStep, WorldPreviewRequest } from "@presage/contract";
import { findNamedDataset, findRevision } from "../datasets/datasets.ts";
import { type PositionedSample, readSamplesAt } from "../datasets/samples.ts";
import { selectEarlierPositions, selectPositionOf } from "../datasets/samples-store.ts";
import { InvalidFieldError, undefinedIfGone } from "../platform/errors.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { type Asked, isRecords, type ReadyWorld, stepsShown } from "./world.ts";

interface FoundSample {
  sample: DatasetSample;
  revisionId: number;
}

/** The sample that a request names, from the world's own dataset unless the request names another. */
export async function findSample(
  services: { store: Store },
  requester: Requester,
  { pinned: { examples } }: ReadyWorld,
  wanted: NonNullable<WorldPreviewRequest["sample"]>,
): Promise<FoundSample> {
  const refuse = (field: string, why: string) => new InvalidFieldError(["sample", field], why);
  const named = wanted.dataset ? await findNamedDataset(services, requester, wanted.dataset) : undefined;
  if (wanted.dataset && named === undefined) throw refuse("dataset", "There is no such dataset");
  const id = named?.id ?? examples?.dataset_id;
  if (id === undefined) throw refuse("dataset", "Name the dataset: the world has no examples");
  const ofWorld = named === undefined ? examples?.revision : undefined;
  const number = wanted.revision ?? ofWorld;
  const revision = await findRevision(services, requester, { id, number }).catch(undefinedIfGone);
  if (revision === undefined) throw refuse("revision", "The dataset has no such revision");
  const reader = services.store.reader(requester);
  const position = await selectPositionOf(reader, revision.id, wanted.dataset_sample_id);
  const [found] = position === undefined ? [] : await readAt(reader, revision.id, [position]);
  if (found === undefined) throw refuse("dataset_sample_id", "The revision has no such sample");
  return { sample: found.sample, revisionId: revision.id };
}

/** How a world is asked for a recorded step: without the step's own trajectory as an example, and with the steps before it. */
export async function askRecorded(
  reader: Database,
  world: ReadyWorld,
  { sample, revisionId }: FoundSample,
): Promise<Asked> {
  const { context, interaction, messages, trajectory_id: trajectoryId, tags } = sample;
  return {
    ...(interaction ? { context, interaction } : { context, messages }),
    history: interaction ? await readHistory({ reader, revisionId, world }, sample) : [],
    recorded: { trajectoryId, tags: tags ?? {} },
  };
}

/** The recorded steps before a step. `predicted`, if given, replaces the recorded next states of the latest of them. */
export async function readHistory(
  { reader, revisionId, world }: { reader: Database; revisionId: number; world: Pick<ReadyWorld, "config"> },
  { trajectory_id, step }: DatasetSample,
  predicted?: readonly string[],
): Promise<HistoryStep[]> {
  const limit = isRecords(world.config.model) ? 0 : stepsShown(world.config);
  if (limit === 0 || step === 0) return [];
  const positions = await selectEarlierPositions(reader, revisionId, { trajectory_id, step, limit });
  const earlier = await readAt(reader, revisionId, positions);
  const samples = new Map(earlier.map(({ position, sample }) => [position, sample]));
  return positions.flatMap((position, index) => {
    const { interaction, next_state: recorded } = samples.get(position) ?? {};
    const next = predicted ? predicted.at(index - positions.length) : recorded;
    return interaction === undefined || next === undefined
      ? []
      : [{ action: interaction.action, next_state: next }];
  });
}

async function readAt(reader: Database, revisionId: number, positions: readonly number[]) {
  const sizes = positions.map((position) => ({ position, bytes: 0 }));
  const found: PositionedSample[] = [];
  for await (const piece of readSamplesAt(reader, revisionId, sizes)) found.push(...piece);
  return found;
}
