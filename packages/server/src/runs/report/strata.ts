import { firstOf, inSlices } from "./first-of.ts";
import type { RunSamples, Texts } from "./run-samples.ts";

/** A way to group samples. */
export interface Dimension {
  /** Of each group, by its number. */
  readonly keys: readonly (string | number)[];
  /** The number of each sample's group, or -1. Of `sets`, if there are any. */
  readonly of: Int32Array;
  /** Where a sample may be in several groups: the numbers of each set of groups. */
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

/** The first steps, and how many others there are. */
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
    verbs.texts.map((text, number) => ({ text, count: counts[number] ?? 0 })).filter(isNotOther),
    mostVerbs,
  );
  const keys = [...frequent, otherVerbs];
  const numbers = new Map(frequent.map((text, number) => [text, number]));
  const numberOf = verbs.texts.map((text) => numbers.get(text) ?? frequent.length);
  return { keys, of: verbs.of.map((verb) => (verb < 0 ? -1 : (numberOf[verb] ?? -1))) };
}

function isNotOther({ text }: { text: string }): boolean {
  return text !== otherVerbs;
}

/** The most frequent tags, and how many others there are. */
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

/** Of equally frequent texts, the first in the order of their characters. */
async function mostFrequent(
  counted: Iterable<{ text: string; count: number }>,
  most: number,
): Promise<string[]> {
  const first = await firstOf(counted, most, (a, b) => b.count - a.count || (a.text < b.text ? -1 : 1));
  return first.map(({ text }) => text);
}
