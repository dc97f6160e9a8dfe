import type { Database } from "../../platform/storage/schema/tables.ts";
import { selectLastPosition, selectTraits } from "./outcomes-store.ts";
import { readInRanges } from "./read-in-ranges.ts";

/** Texts by number, in the order in which they were first seen. */
export interface Texts {
  readonly texts: string[];
  /** Each sample's, or -1. */
  readonly of: Int32Array;
}

/** The samples of a revision, by index: the sample at position 1 has the index 0. In typed arrays, since there may be a million. */
export interface RunSamples {
  count: number;
  trajectories: Texts;
  /** NaN where it is not known, in external runs. */
  step: Float64Array;
  /** -1 if they cannot be compared, or no run has reached the sample. */
  changes: Int32Array;
  verbs: Texts;
  /** JSON. */
  tags: Texts;
  /** All indexes: the samples of a trajectory one after the other, by step. */
  order: Int32Array;
}

export async function readRunSamples(reader: Database, revisionId: number): Promise<RunSamples> {
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

/** Texts by number that are set one sample after the other. */
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

/** All indexes: those of a trajectory one after the other, by step as far as it is known. */
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
