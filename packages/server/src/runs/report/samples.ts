import { setImmediate as nextTurn } from "node:timers/promises";
import type { RunDraw } from "@presage/contract";
import type { Database } from "../../platform/storage/schema/tables.ts";
import { drawTrajectories, type Run } from "../run.ts";
import { readInRanges, selectDigests, selectLastPosition, selectTraits } from "./outcomes-store.ts";

/** The indexes of the reference's samples in a run. */
export interface SampleMatch {
  /** For each index of the reference's samples, the run's own index, or -1. */
  indexes: Int32Array;
  /** How many samples the run's revision has. */
  samples: number;
}

/** Runs of one revision have the same samples; samples of other revisions are matched by content, wherever they are. */
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

/** Texts by number, in the order of their first appearance. */
export interface Texts {
  readonly texts: string[];
  /** The number of each sample's text, or -1. */
  readonly of: Int32Array;
}

/** The samples of a revision, by index: the sample at position 1 has index 0. Typed arrays, because there may be a million. */
export interface RunSamples {
  count: number;
  trajectories: Texts;
  /** NaN if unknown in a client run, and for samples that a pilot does not predict. */
  step: Float64Array;
  /** -1 if the states cannot be compared, or no run has reached the sample. */
  changes: Int32Array;
  verbs: Texts;
  /** Tags as JSON. */
  tags: Texts;
  /** The indexes of all samples that the run predicts: those of a trajectory are adjacent, ordered by step. */
  order: Int32Array;
}

export async function readRunSamples(
  reader: Database,
  { dataset, provenance: { draw } }: Pick<Run, "dataset" | "provenance">,
): Promise<RunSamples> {
  const samples = await readRevisionSamples(reader, dataset?.revisionId ?? 0);
  return draw === undefined ? samples : onlyDrawn(samples, await drawnOf(samples, draw));
}

/** By index, 1 for each sample that a pilot predicts; undefined if the run predicts all samples. */
export async function readDrawn(
  reader: Database,
  { dataset, provenance: { draw } }: Pick<Run, "dataset" | "provenance">,
): Promise<Uint8Array | undefined> {
  if (draw === undefined) return undefined;
  return await drawnOf(await readRevisionSamples(reader, dataset?.revisionId ?? 0), draw);
}

async function drawnOf(
  { count, trajectories: { texts, of }, order }: RunSamples,
  draw: RunDraw,
): Promise<Uint8Array> {
  const lengths = new Float64Array(texts.length);
  for (const number of of) lengths[number] = (lengths[number] ?? 0) + 1;
  const left = await drawTrajectories(
    texts.map((trajectoryId, number) => ({ trajectoryId, samples: lengths[number] ?? 0 })),
    draw,
  );
  const drawn = new Uint8Array(count);
  for (const index of order) {
    const trajectory = texts[of[index] ?? 0] ?? "";
    const wanted = left.get(trajectory) ?? 0;
    if (wanted === 0) continue;
    drawn[index] = 1;
    left.set(trajectory, wanted - 1);
  }
  return drawn;
}

/** Only the samples that are drawn: all others belong to no group. */
function onlyDrawn(samples: RunSamples, drawn: Uint8Array): RunSamples {
  const some = ({ texts, of }: Texts) => ({
    texts,
    of: of.map((number, index) => (drawn[index] ? number : -1)),
  });
  return {
    ...samples,
    verbs: some(samples.verbs),
    tags: some(samples.tags),
    step: samples.step.map((step, index) => (drawn[index] ? step : Number.NaN)),
    order: samples.order.filter((index) => drawn[index]),
  };
}

async function readRevisionSamples(reader: Database, revisionId: number): Promise<RunSamples> {
  const count = await selectLastPosition(reader, revisionId);
  const trajectories = createTexts(count);
  const verbs = createTexts(count);
  const tags = createTexts(count);
  const step = new Float64Array(count);
  const changes = new Int32Array(count).fill(-1);
  for await (const rows of readInRanges(count, 1, (range) => selectTraits(reader, revisionId, range))) {
    for (const row of rows) {
      const index = row.position - 1;
      trajectories.set(index, row.trajectory_id);
      verbs.set(index, row.verb);
      tags.set(index, row.tags);
      step[index] = row.step;
      changes[index] = row.changes ?? -1;
    }
  }
  return {
    count,
    trajectories,
    verbs,
    tags,
    step,
    changes,
    order: inTrajectories(trajectories, step),
  };
}

/** Whether the sample at an index has this tag `split`. */
export function isOfSplit({ tags }: Pick<RunSamples, "tags">, split: string): (index: number) => boolean {
  const having = tags.texts.map((text) => (JSON.parse(text) as Record<string, string>).split === split);
  return (index) => having[tags.of[index] ?? -1] === true;
}

/** Texts by number that are set sample by sample. */
export function createTexts(count: number): Texts & { set(index: number, text: string | null): void } {
  const numbers = new Map<string, number>();
  const texts: string[] = [];
  const of = new Int32Array(count).fill(-1);
  return {
    texts,
    of,
    set(index, text) {
      if (text === null) return;
      let number = numbers.get(text);
      if (number === undefined) {
        number = texts.length;
        numbers.set(text, number);
        texts.push(text);
      }
      of[index] = number;
    },
  };
}

/** All indexes: those of a trajectory are adjacent, ordered by step as far as it is known. */
export function inTrajectories({ texts, of }: Texts, step: Float64Array): Int32Array {
  const starts = new Int32Array(texts.length + 1);
  for (const number of of) starts[number + 1] = (starts[number + 1] ?? 0) + 1;
  for (let number = 0; number < texts.length; number++) {
    starts[number + 1] = (starts[number + 1] ?? 0) + (starts[number] ?? 0);
  }
  const order = new Int32Array(of.length);
  const next = starts.slice();
  for (let index = 0; index < of.length; index++) {
    const number = of[index] ?? 0;
    const place = next[number] ?? 0;
    order[place] = index;
    next[number] = place + 1;
  }
  for (let number = 0; number < texts.length; number++) {
    const steps = order.subarray(starts[number], starts[number + 1]);
    if (!isAscending(steps, step)) steps.sort((a, b) => (step[a] ?? 0) - (step[b] ?? 0));
  }
  return order;
}

function isAscending(indexes: Int32Array, step: Float64Array): boolean {
  for (let place = 1; place < indexes.length; place++) {
    if ((step[indexes[place - 1] ?? 0] ?? 0) > (step[indexes[place] ?? 0] ?? 0)) return false;
  }
  return true;
}

/** A way to group samples. */
export interface Dimension {
  /** The key of each group, by its number. */
  readonly keys: readonly (string | number)[];
  /** The number of each sample's group, or -1; the number of its set if there are `sets`. */
  readonly of: Int32Array;
  /** If a sample may be in several groups: the numbers of each set of groups. */
  readonly sets?: readonly (readonly number[])[];
}

const mostSteps = 1_000;
const mostVerbs = 50;
const mostTags = 200;
const otherVerbs = "other";
const unknown = "unknown";
const changesKeys = ["0", "1-2", "3-6", "7+", unknown];
const changedKeys = ["unchanged", "changed", unknown];

/** All samples in one group. */
export function together({ count }: RunSamples): Dimension {
  return { keys: [""], of: new Int32Array(count) };
}

/** The first steps, and the number of other steps. */
export function byStep({ step }: RunSamples): { dimension: Dimension; leftOut: number } {
  const all = Float64Array.from(new Set(step.filter((one) => !Number.isNaN(one)))).sort();
  const keys = [...all.subarray(0, mostSteps)];
  const numbers = new Map(keys.map((key, number) => [key, number]));
  return {
    dimension: { keys, of: Int32Array.from(step, (one) => numbers.get(one) ?? -1) },
    leftOut: all.length - keys.length,
  };
}

export function byTrajectory({ trajectories }: RunSamples): Dimension {
  return { keys: trajectories.texts, of: trajectories.of };
}

export function byWhetherChanged({ changes }: RunSamples): Dimension {
  return { keys: changedKeys, of: changes.map((count) => (count < 0 ? 2 : Math.min(count, 1))) };
}

export function byChanges({ changes }: RunSamples): Dimension {
  return {
    keys: changesKeys,
    of: changes.map((count) => {
      if (count < 0) return 4;
      if (count === 0) return 0;
      return count < 3 ? 1 : count < 7 ? 2 : 3;
    }),
  };
}

/** The 50 most frequent verbs, and all others together. */
export async function byVerb({ verbs }: RunSamples): Promise<Dimension> {
  const counts = countTexts(verbs);
  const frequent = await mostFrequent(
    verbs.texts
      .map((text, number) => ({ text, count: counts[number] ?? 0 }))
      .filter(({ text }) => text !== otherVerbs),
    mostVerbs,
  );
  const keys = [...frequent, otherVerbs];
  const numbers = new Map(frequent.map((text, number) => [text, number]));
  const numberOf = verbs.texts.map((text) => numbers.get(text) ?? frequent.length);
  return { keys, of: verbs.of.map((verb) => (verb < 0 ? -1 : (numberOf[verb] ?? -1))) };
}

/** The most frequent tags, and the number of other tags. */
export async function byTag({ tags }: RunSamples): Promise<{ dimension: Dimension; leftOut: number }> {
  const counts = countTexts(tags);
  const totals = new Map<string, number>();
  for await (const slice of inSlices(tags.texts.entries())) {
    for (const [number, set] of slice) {
      for (const tag of readTags(set)) totals.set(tag, (totals.get(tag) ?? 0) + (counts[number] ?? 0));
    }
  }
  const counted = totals.entries().map(([text, count]) => ({ text, count }));
  const keys = (await mostFrequent(counted, mostTags)).sort();
  const numbers = new Map(keys.map((key, number) => [key, number]));
  const sets: number[][] = [];
  for await (const slice of inSlices(tags.texts)) {
    for (const set of slice) sets.push(readTags(set).flatMap((tag) => numbers.get(tag) ?? []));
  }
  return { dimension: { keys, of: tags.of, sets }, leftOut: totals.size - keys.length };
}

function readTags(json: string): string[] {
  return Object.entries(JSON.parse(json) as Record<string, string>).map(([name, text]) => `${name}=${text}`);
}

function countTexts({ texts, of }: Texts): Float64Array {
  const counts = new Float64Array(texts.length);
  for (const number of of) if (number >= 0) counts[number] = (counts[number] ?? 0) + 1;
  return counts;
}

/** Equally frequent texts are sorted by their characters. */
async function mostFrequent(counted: Iterable<{ text: string; count: number }>, most: number) {
  const first = await firstOf(counted, most, (a, b) => b.count - a.count || (a.text < b.text ? -1 : 1));
  return first.map(({ text }) => text);
}

/** Takes some milliseconds of the main thread. */
const sliceItems = 5_000;

/** Items in slices, with a turn for other work after each. */
async function* inSlices<Item>(items: Iterable<Item>): AsyncGenerator<Item[], void> {
  let slice: Item[] = [];
  for (const item of items) {
    slice.push(item);
    if (slice.length < sliceItems) continue;
    yield slice;
    slice = [];
    await nextTurn();
  }
  yield slice;
}

/** The first items in an order. There may be a million, and sorting them all together would block everybody for seconds. */
export async function firstOf<Item>(
  items: Iterable<Item>,
  most: number,
  compare: (a: Item, b: Item) => number,
): Promise<Item[]> {
  let first: Item[] = [];
  for await (const slice of inSlices(items)) first = first.concat(slice).sort(compare).slice(0, most);
  return first;
}
