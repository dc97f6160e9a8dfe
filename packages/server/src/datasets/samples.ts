import type { DatasetSample, DatasetTrajectorySummary } from "@presage/contract";
import { notFound, ServiceError } from "../platform/errors.ts";
import { type Pieces, readInPieces, splitByBytes } from "../platform/storage/lists.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { beginning } from "../platform/words.ts";
import { findRevision, unlessDeleted, type WantedRevision } from "./datasets.ts";
import { lineOf, type Part } from "./formats.ts";
import {
  type SampleSize,
  type StoredSample,
  type StoredTrajectory,
  selectBodies,
  selectParts,
  selectSamples,
  selectSizes,
  selectSizesByTrajectory,
  selectTrajectories,
  selectTrajectorySizes,
  type TrajectoryPage,
  type TrajectoryStep,
} from "./samples-store.ts";

/** A page ends early if its text would be longer. */
const maxPageBytes = 16_000_000;
/** How many samples' sizes are read in one query. */
const samplesAtOnce = 1_000;

/** A sample and its position in its revision. */
export interface PositionedSample {
  position: number;
  sample: DatasetSample;
}

/** The most samples that are in memory at a time as objects. They are parsed in one turn, within a millisecond or two. */
const piece = { maxIds: 50, maxBytes: 250_000 };

/** One page of a revision's samples, as JSON, and the position after which the next page starts. */
export async function pageOfSamples(
  services: { store: Store },
  requester: Requester,
  wanted: WantedRevision,
  { limit, after }: { limit: number; after: number },
): Promise<{ samples: Pieces<string>; next: number | undefined }> {
  const revision = await findRevision(services, requester, wanted);
  const reader = services.store.briefReader(requester);
  const reading = selectSizes(reader, revision.id, { after, limit: limit + 1 });
  const sizes = await unlessDeleted(reading, services, requester, wanted);
  const page = upToPage(sizes.slice(0, limit));
  const next = page.length < sizes.length ? page.at(-1)?.position : undefined;
  return { samples: inPieces(reader, revision.id, page), next };
}

/** As many samples from the start as fit on a page, but at least one. */
function upToPage<Size extends Pick<SampleSize, "bytes">>(sizes: readonly Size[]): Size[] {
  let sum = 0;
  return sizes.filter(({ bytes }, index) => {
    sum += bytes;
    return index === 0 || sum <= maxPageBytes;
  });
}

/** All lines of a revision, without line feeds, a piece at a time. */
export async function exportSamples(
  services: { store: Store },
  requester: Requester,
  wanted: WantedRevision,
): Promise<AsyncGenerator<string[], void>> {
  const { id } = await findRevision(services, requester, wanted);
  const reader = services.store.reader(requester);
  return readAllLines(reader, id, (reading) => unlessDeleted(reading, services, requester, wanted));
}

/** All lines of the revision with this id. `check` may refuse what was read. */
export function readAllLines(
  reader: Database,
  revisionId: number,
  check = (reading: Promise<SampleSize[]>) => reading,
): AsyncGenerator<string[], void> {
  const select = (last?: SampleSize) =>
    check(selectSizes(reader, revisionId, { after: last?.position ?? 0, limit: samplesAtOnce }));
  return readAll(select, (sizes) => inPieces(reader, revisionId, sizes).read());
}

/** The samples of a trajectory after a step, as JSON and in order, and the step after which the next page starts. No limit: all. */
export async function readTrajectory(
  services: { store: Store },
  requester: Requester,
  { trajectoryId, ...wanted }: WantedRevision & { trajectoryId: string },
  { limit, after }: { limit: number | undefined; after: number },
): Promise<{ samples: Pieces<string>; next: number | undefined }> {
  const { id } = await findRevision(services, requester, wanted);
  const reader = services.store.briefReader(requester);
  const select = (after: number, limit: number) => {
    const reading = selectTrajectorySizes(reader, id, trajectoryId, { after, limit });
    return unlessDeleted(reading, services, requester, wanted);
  };
  if ((await select(-1, 1)).length === 0) {
    throw new ServiceError("not_found", "The revision has no such trajectory.");
  }
  if (limit === undefined) {
    const selectSome = (last?: { step: number }) => select(last?.step ?? after, samplesAtOnce);
    const read = () => readAll(selectSome, (sizes) => inPieces(reader, id, sizes).read());
    return { samples: { count: 2, maxBytes: piece.maxBytes, read }, next: undefined };
  }
  const sizes = await select(after, limit + 1);
  const page = upToPage(sizes.slice(0, limit));
  return {
    samples: inPieces(reader, id, page),
    next: page.length < sizes.length ? page.at(-1)?.step : undefined,
  };
}

/**
 * All samples of a revision by trajectory and step, a piece at a time. Reports to `onHeld` how many characters the current
 * trajectory's samples take together so far.
 */
export async function* readByTrajectory(
  services: { store: Store },
  requester: Requester,
  wanted: WantedRevision,
  onHeld?: (characters: number) => void,
): AsyncGenerator<DatasetSample[], void> {
  const { id } = await findRevision(services, requester, wanted);
  const reader = services.store.reader(requester);
  const select = (after?: TrajectoryStep) =>
    unlessDeleted(
      selectSizesByTrajectory(reader, id, { after, limit: samplesAtOnce }),
      services,
      requester,
      wanted,
    );
  let before: DatasetSample | undefined;
  let held = 0;
  for await (const lines of readAll(select, (sizes) => inPieces(reader, id, sizes).read())) {
    let most = held;
    const samples = lines.map((line) => {
      // Stored lines were written from this type.
      const sample: DatasetSample = JSON.parse(line);
      if (sample.trajectory_id !== before?.trajectory_id) [before, held] = [undefined, 0];
      held += shareWith(before, sample);
      most = Math.max(most, held);
      before = sample;
      return sample;
    });
    onHeld?.(most);
    yield samples;
  }
}

/**
 * Makes a sample share what equals the sample before it, so that it is in memory once: each turn of a conversation repeats all turns
 * before it. Returns how many characters are the sample's own.
 */
function shareWith(before: DatasetSample | undefined, sample: DatasetSample): number {
  const { context, interaction, messages, next_state } = sample;
  let own = next_state.length + (interaction ? interaction.state.length + interaction.action.length : 0);
  if (context && Bun.deepEquals(context, before?.context)) sample.context = before?.context;
  else if (context) for (const text of Object.values(context)) own += text?.length ?? 0;
  if (messages)
    sample.messages = messages.map((message, index) => {
      const earlier = before?.messages?.[index];
      if (earlier?.content === message.content && earlier.role === message.role) return earlier;
      own += message.content.length;
      return message;
    });
  return own;
}

/** A page of a revision's trajectories, and the one after which the next page starts. */
export async function listTrajectories(
  { store }: { store: Store },
  requester: Requester,
  wanted: WantedRevision,
  page: TrajectoryPage,
): Promise<{ trajectories: Pieces<DatasetTrajectorySummary>; next: StoredTrajectory | undefined }> {
  const { id } = await findRevision({ store }, requester, wanted);
  // Either option may look at all of the revision's samples.
  const isLong = page.contains !== undefined || page.order !== "trajectory_id";
  const reader = isLong ? store.reader(requester) : store.briefReader(requester);
  const reading = selectTrajectories(reader, id, { ...page, limit: page.limit + 1 });
  const found = await unlessDeleted(reading, { store }, requester, wanted);
  // Tags and the action are in the body of the first sample, which may be long.
  const shown = upToPage(found.slice(0, page.limit));
  const byPosition = new Map(shown.map((trajectory) => [trajectory.position, trajectory]));
  const bytesOf = new Map(shown.map(({ position, bytes }) => [position, bytes]));
  return {
    trajectories: readInPieces([...byPosition.keys()], bytesOf, async (positions) => {
      const bodies = await selectBodies(reader, id, positions);
      return positions.flatMap((position) => {
        const trajectory = byPosition.get(position);
        const body = bodies.get(position);
        // The body existed when the trajectory was found, so the dataset has been deleted.
        if (body === undefined) throw notFound("dataset");
        return trajectory === undefined ? [] : [toSummary(trajectory, body)];
      });
    }),
    next: shown.length < found.length ? shown.at(-1) : undefined,
  };
}

const begunCharacters = 200;

function toSummary(
  { trajectory_id, steps, first_step, last_step }: StoredTrajectory,
  body: string,
): DatasetTrajectorySummary {
  // Stored bodies were written from this type.
  const { tags, interaction, messages }: DatasetSample = JSON.parse(body);
  const action = interaction?.action ?? messages?.at(-1)?.content ?? "";
  const first_action = beginning(action, begunCharacters);
  return { trajectory_id, steps, first_step, last_step, first_action, tags: tags ?? null };
}

/** The lines of the samples with these sizes, in order, a piece at a time. */
async function* readLinesAt(
  reader: Database,
  revisionId: number,
  sizes: readonly SampleSize[],
): AsyncGenerator<{ position: number; line: string }[], void> {
  const bytesOf = new Map(sizes.map(({ position, bytes }) => [position, bytes]));
  for (const positions of splitByBytes([...bytesOf.keys()], bytesOf, piece)) {
    const lines = await readLines(reader, revisionId, positions);
    yield positions.flatMap((position) => {
      const line = lines.get(position);
      return line === undefined ? [] : [{ position, line }];
    });
  }
}

/** The samples with these sizes, in order, a piece at a time. */
export async function* readSamplesAt(
  reader: Database,
  revisionId: number,
  sizes: readonly SampleSize[],
): AsyncGenerator<PositionedSample[], void> {
  for await (const lines of readLinesAt(reader, revisionId, sizes)) yield lines.map(toPositioned);
}

/** All lines of a revision in order, a piece at a time. */
export async function* readRevisionLines(
  reader: Database,
  revisionId: number,
  signal: AbortSignal,
): AsyncGenerator<{ position: number; line: string }[], void> {
  yield* readAll(
    (last?: SampleSize) => {
      signal.throwIfAborted();
      return selectSizes(reader, revisionId, { after: last?.position ?? 0, limit: samplesAtOnce });
    },
    (sizes) => readLinesAt(reader, revisionId, sizes),
  );
}

/** All samples of a revision in order, a piece at a time. */
export async function* readRevision(
  reader: Database,
  revisionId: number,
  signal: AbortSignal,
): AsyncGenerator<PositionedSample[], void> {
  for await (const lines of readRevisionLines(reader, revisionId, signal)) yield lines.map(toPositioned);
}

function toPositioned({ position, line }: { position: number; line: string }): PositionedSample {
  // Stored lines were written from this type.
  return { position, sample: JSON.parse(line) as DatasetSample };
}

/** Reads samples whose sizes are selected a batch at a time, each batch starting after the last sample of the one before. */
async function* readAll<Size, Piece>(
  select: (last?: Size) => Promise<Size[]>,
  read: (sizes: readonly Size[]) => AsyncIterable<Piece>,
): AsyncGenerator<Piece, void> {
  for (let last: Size | undefined; ; ) {
    const sizes = await select(last);
    yield* read(sizes);
    last = sizes.at(-1);
    if (sizes.length < samplesAtOnce) return;
  }
}

function inPieces(reader: Database, revisionId: number, sizes: readonly SampleSize[]): Pieces<string> {
  const bytesOf = new Map(sizes.map(({ position, bytes }) => [position, bytes]));
  return readInPieces([...bytesOf.keys()], bytesOf, async (positions) => {
    const lines = await readLines(reader, revisionId, positions);
    return positions.map((position) => {
      const line = lines.get(position);
      // The line existed when its size was read, so the dataset has been deleted.
      if (line === undefined) throw notFound("dataset");
      return line;
    });
  });
}

/** The lines at these positions, by position. */
async function readLines(reader: Database, revisionId: number, positions: readonly number[]) {
  const samples = await selectSamples(reader, revisionId, positions);
  const digests = new Set(samples.flatMap(({ part }) => part ?? []));
  const parts = await selectParts(reader, revisionId, [...digests]);
  return new Map(samples.map((sample) => [sample.position, toLine(sample, parts)]));
}

function toLine(sample: StoredSample, parts: ReadonlyMap<string, Omit<Part, "digest">>): string {
  const chain: Pick<Part, "text">[] = [];
  for (let digest = sample.part; digest !== null; ) {
    const part = parts.get(digest);
    if (part === undefined) throw new Error("A sample lacks a part");
    chain.push(part);
    digest = part.previous;
  }
  return [...lineOf({ ...sample, parts: chain.reverse() })].join("");
}
