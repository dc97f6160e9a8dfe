import type { Database } from "../../platform/storage/schema/tables.ts";
import type { Run } from "../run.ts";
import { selectDigests, selectLastPosition } from "./outcomes-store.ts";
import { readInRanges } from "./read-in-ranges.ts";

/** Where a run has the reference's samples. */
export interface SampleMatch {
  /** For each index of the reference's samples the run's own, or -1. */
  indexes: Int32Array;
  /** How many samples the run's revision has. */
  samples: number;
}

/** Runs of one revision have the same samples; those of others are matched by what the samples are, whatever their place. */
export async function matchSamples(
  reader: Database,
  reference: Run,
  others: readonly Run[],
  count: number,
): Promise<SampleMatch[]> {
  const revisionId = reference.dataset?.revisionId;
  const same = { indexes: Int32Array.from({ length: count }, (_, index) => index), samples: count };
  const isElsewhere = (run: Run) => run.dataset?.revisionId !== revisionId;
  if (!others.some(isElsewhere)) return others.map(() => same);
  const indexOf = new Map<string, number>();
  for await (const rows of readDigests(reader, revisionId ?? 0, count)) {
    for (const { position, digest } of rows) indexOf.set(digest, position - 1);
  }
  const matches: SampleMatch[] = [];
  for (const run of others) {
    matches.push(isElsewhere(run) ? await match(reader, run.dataset?.revisionId ?? 0, indexOf, count) : same);
  }
  return matches;
}

async function match(
  reader: Database,
  revisionId: number,
  indexOf: ReadonlyMap<string, number>,
  count: number,
): Promise<SampleMatch> {
  const samples = await selectLastPosition(reader, revisionId);
  const indexes = new Int32Array(count).fill(-1);
  for await (const rows of readDigests(reader, revisionId, samples)) {
    for (const { position, digest } of rows) {
      const index = indexOf.get(digest);
      if (index !== undefined) indexes[index] = position - 1;
    }
  }
  return { indexes, samples };
}

function readDigests(reader: Database, revisionId: number, last: number) {
  return readInRanges(last, 1, (range) => selectDigests(reader, revisionId, range));
}
