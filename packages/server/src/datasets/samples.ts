import type { DatasetSample } from "@presage/contract";
import { ServiceError } from "../platform/errors.ts";
import { type Pieces, readInPieces, splitByBytes } from "../platform/storage/lists.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import { lineOf, type Part } from "./canonical-samples.ts";
import { findRevision, noSuchDataset, unlessDeleted } from "./datasets.ts";
import {
  type SampleSize,
  type StoredSample,
  selectParts,
  selectSamples,
  selectSizes,
  selectTrajectorySizes,
} from "./samples-store.ts";

export interface WantedRevision {
  id: string;
  /** Absent: the latest. */
  number: number | undefined;
}

/** A page with more text ends early. */
const maxPageBytes = 16_000_000;
/** How many samples are measured at once. */
const samplesAtOnce = 1_000;

/** A sample and its place in its revision. */
export interface PlacedSample {
  position: number;
  sample: DatasetSample;
}

/** The most samples that are in memory at once, as objects. They are parsed in one turn, in a millisecond or two. */
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
export function upToPage<Size extends Pick<SampleSize, "bytes">>(sizes: readonly Size[]): Size[] {
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
  return readAll(
    reader,
    id,
    (after) =>
      unlessDeleted(selectSizes(reader, id, { after, limit: samplesAtOnce }), services, requester, wanted),
    ({ position }) => position,
    0,
  );
}

/** The samples of a trajectory behind a step, as JSON, by step, and the step behind which the next page starts. Without a limit, all. */
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
    const read = () =>
      readAll(
        reader,
        id,
        (from) => select(from, samplesAtOnce),
        ({ step }) => step,
        after,
      );
    return { samples: { count: 2, maxBytes: piece.maxBytes, read }, next: undefined };
  }
  const sizes = await select(after, limit + 1);
  const page = upToPage(sizes.slice(0, limit));
  return {
    samples: inPieces(reader, id, page),
    next: page.length < sizes.length ? page.at(-1)?.step : undefined,
  };
}

/** The samples of these sizes, in their order, a piece at a time. */
export async function* readPlacedSamples(
  reader: Database,
  revisionId: number,
  sizes: readonly SampleSize[],
): AsyncGenerator<PlacedSample[], void> {
  const bytesOf = new Map(sizes.map(({ position, bytes }) => [position, bytes]));
  for (const positions of splitByBytes([...bytesOf.keys()], bytesOf, piece)) {
    const lines = await readLines(reader, revisionId, positions);
    yield positions.flatMap((position) => {
      const line = lines.get(position);
      // It was written as one.
      return line === undefined ? [] : [{ position, sample: JSON.parse(line) as DatasetSample }];
    });
  }
}

async function* readAll<Size extends SampleSize>(
  reader: Database,
  revisionId: number,
  select: (after: number) => Promise<Size[]>,
  placeOf: (size: Size) => number,
  first: number,
): AsyncGenerator<string[], void> {
  let after = first;
  for (;;) {
    const sizes = await select(after);
    yield* inPieces(reader, revisionId, sizes).read();
    const last = sizes.at(-1);
    if (last === undefined || sizes.length < samplesAtOnce) return;
    after = placeOf(last);
  }
}

function inPieces(reader: Database, revisionId: number, sizes: readonly SampleSize[]): Pieces<string> {
  const bytesOf = new Map(sizes.map(({ position, bytes }) => [position, bytes]));
  return readInPieces([...bytesOf.keys()], bytesOf, async (positions) => {
    const lines = await readLines(reader, revisionId, positions);
    return positions.map((position) => {
      const line = lines.get(position);
      // It was there when its size was read.
      if (line === undefined) throw noSuchDataset();
      return line;
    });
  });
}

/** The lines at these positions, by position. */
async function readLines(
  reader: Database,
  revisionId: number,
  positions: readonly number[],
): Promise<Map<number, string>> {
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
  const { trajectory_id: trajectoryId, step, sample_id: sampleId, body } = sample;
  return [...lineOf({ sampleId, trajectoryId, step, parts: chain.reverse(), body })].join("");
}
