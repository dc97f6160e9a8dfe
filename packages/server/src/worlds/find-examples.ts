import { type ExampleIndex, group, tagOf } from "./example-index.ts";
import type { Fields } from "./features.ts";
import {
  compareWith,
  eachFeature,
  type Features,
  featuresOf,
  maxBytes,
  normalForm,
  weightOf,
} from "./features.ts";

/** Which examples are wanted of an index. */
export interface Wanted {
  k: number;
  /** Code points that all of them may cost; the first one always fits. */
  maxChars?: number | undefined;
  /** How many are compared at most, by falling similarity of the action. */
  maxVisits?: number | undefined;
  minSimilarity?: number | undefined;
  weights?: Readonly<Record<keyof Fields, number>> | undefined;
  /** Whether examples with the same action and next state are all chosen. */
  keepsDuplicates?: boolean | undefined;
  /** Trajectories whose examples are left out. */
  excluded?: readonly string[] | undefined;
  /** Tags, by name, whose examples are left out. */
  excludedTags?: Readonly<Record<string, string>> | undefined;
}

export interface FoundExample {
  position: number;
  /** Rounded, as the order goes by it. */
  similarity: number;
  by: Record<keyof Fields, number>;
  chars: number;
}

export interface FoundExamples {
  /** The most similar first. */
  examples: FoundExample[];
  /** Whether `maxVisits` left out some that could have been among them. */
  isTruncated: boolean;
  /** How many were passed over: as excluded, and in choosing. */
  leftOut: { trajectory: number; duplicate: number; budget: number };
}

export const defaultWeights = { action: 0.7, state: 0.2, task: 0.1 };
const defaultMaxVisits = 50_000;
const million = 1e6;
/** More than what rounding and sums in another order change. */
const slack = 1e-6;

interface Candidate extends FoundExample {
  example: number;
}

/**
 * The examples most similar to a query, by actions of falling similarity. It ends where the rest cannot be chosen: what has a less
 * similar action has at most that similarity and all of the other fields.
 */
export function findExamples(index: ExampleIndex, query: Fields, wanted: Wanted): FoundExamples {
  const weights = scaledWeights(query, wanted.weights ?? defaultWeights);
  const excluded = excludedOf(index, wanted);
  const ofAction = actionSimilarities(index, featuresOf(normalForm(query.action, maxBytes.action)));
  const states = comparisons(index.states, featuresOf(normalForm(query.state, maxBytes.state)), 0);
  const tasks = comparisons(index.tasks, featuresOf(normalForm(query.task, maxBytes.task)), 1);
  try {
    return search(index, ofAction, { states, tasks, weights, excluded, wanted });
  } finally {
    states.release();
    tasks.release();
  }
}

interface Search {
  states: ReturnType<typeof comparisons>;
  tasks: ReturnType<typeof comparisons>;
  weights: Record<keyof Fields, number>;
  excluded: ReadonlySet<number>;
  wanted: Wanted;
}

function search(
  index: ExampleIndex,
  ofAction: Float64Array,
  { states, tasks, weights, excluded, wanted }: Search,
): FoundExamples {
  const pool = choosing(index, wanted);
  let room = wanted.maxVisits ?? defaultMaxVisits;
  let isTruncated = false;
  for (const { similarity: most, actions } of byFalling(ofAction)) {
    const bound = weights.action * most + weights.state + weights.task + slack;
    if (bound <= slack || pool.isSettled(bound)) break;
    let examples = examplesOf(index, actions, excluded);
    isTruncated = examples.length > room;
    if (isTruncated) examples = examples.sort((a, b) => a - b).slice(0, room);
    for (const example of examples) {
      const action = ofAction[index.actionOf[example] ?? 0] ?? 0;
      const task = tasks.similarity(index.taskOf[example] ?? 0);
      const known = weights.action * action + weights.task * task;
      if (known + weights.state + slack < pool.floor()) continue;
      const state = states.similarity(index.stateOf[example] ?? 0);
      const by = { action: rounded(action), state: rounded(state), task: rounded(task) };
      pool.add(example, rounded(known + weights.state * state), by);
    }
    room -= examples.length;
    if (isTruncated) break;
  }
  const { chosen, duplicate, budget } = pool.choose();
  return {
    examples: chosen.map(({ example, ...found }) => found),
    isTruncated,
    leftOut: { trajectory: excluded.size, duplicate, budget },
  };
}

function excludedOf(
  { trajectories, ofTrajectory: { starts, numbers }, tagged }: ExampleIndex,
  { excluded = [], excludedTags = {} }: Wanted,
): ReadonlySet<number> {
  const examples = new Set<number>();
  for (const id of excluded) {
    const trajectory = trajectories.get(id);
    if (trajectory === undefined) continue;
    for (const example of numbers.subarray(starts[trajectory], starts[trajectory + 1])) examples.add(example);
  }
  for (const [name, value] of Object.entries(excludedTags))
    for (const example of tagged.get(tagOf(name, value)) ?? []) examples.add(example);
  return examples;
}

/** Half up, to 6 decimals. */
function rounded(value: number): number {
  return Math.floor(value * million + 0.5) / million;
}

/** Those of the fields that the query has, of sum 1. */
function scaledWeights(query: Fields, weights: NonNullable<Wanted["weights"]>): typeof weights {
  const present = (field: keyof Fields) => (normalForm(query[field], 1).length > 0 ? weights[field] : 0);
  const [action, state, task] = [present("action"), present("state"), present("task")];
  const sum = action + state + task || 1;
  return { action: action / sum, state: state / sum, task: task / sum };
}

function actionSimilarities({ actions, postings }: ExampleIndex, { codes, norm }: Features): Float64Array {
  const { lists, starts, entries } = postings;
  const sums = new Float64Array(actions.count);
  eachFeature(codes, (window, count) => {
    const list = lists.get(window);
    if (list === undefined) return;
    const weight = (weightOf[count] ?? 0) / norm;
    eachFeature(entries.subarray(starts[list], starts[list + 1]), (action, itsCount) => {
      sums[action] = (sums[action] ?? 0) + weight * (weightOf[itsCount] ?? 0);
    });
  });
  for (let action = 0; action < sums.length; action += 1) {
    const sum = sums[action] ?? 0;
    if (sum > 0) sums[action] = sum / actions.normOf(action);
  }
  return sums;
}

/** Each distinct text is compared once. */
function comparisons(texts: ExampleIndex["states"], query: Features, place: 0 | 1) {
  const { cosine, release } = compareWith(query, place);
  const known = new Float64Array(texts.count).fill(-1);
  return {
    release,
    similarity(text: number): number {
      const before = known[text] ?? -1;
      if (before >= 0) return before;
      const similarity = cosine(texts.featuresOf(text));
      known[text] = similarity;
      return similarity;
    },
  };
}

/** Actions of equal rounded similarity together, falling. Sorted a bucket at a time, as most are not reached. */
function* byFalling(ofAction: Float64Array): Generator<{ similarity: number; actions: number[] }, void> {
  const parts = Uint32Array.from(ofAction, (similarity) => million - Math.floor(similarity * million + 0.5));
  const { starts, numbers } = group(
    parts.map((part) => part >> 10),
    1_024,
  );
  for (let bucket = 0; bucket < 1_024; bucket += 1) {
    const some = numbers.subarray(starts[bucket], starts[bucket + 1]);
    const ofPart = Map.groupBy(some, (action) => parts[action] ?? 0);
    for (const [part, actions] of [...ofPart].sort(([a], [b]) => a - b))
      yield { similarity: (million - part) / million, actions };
  }
}

function examplesOf(
  { examplesOf: { starts, numbers } }: ExampleIndex,
  actions: readonly number[],
  excluded: ReadonlySet<number>,
): number[] {
  const examples: number[] = [];
  for (const action of actions) {
    const end = starts[action + 1] ?? 0;
    for (let at = starts[action] ?? 0; at < end; at += 1) {
      const example = numbers[at] ?? 0;
      if (!excluded.has(example)) examples.push(example);
    }
  }
  return examples;
}

/** Chooses among the candidates so far, again once they are a quarter more and before the end. */
function choosing(index: ExampleIndex, { minSimilarity = 0, ...wanted }: Wanted) {
  const { k, maxChars } = wanted;
  const candidates: Candidate[] = [];
  let chosenOf = 0;
  let least = 0;
  const choose = () => chooseExamples(index, candidates, wanted);
  return {
    choose,
    add(example: number, similarity: number, by: FoundExample["by"]): void {
      if (similarity === 0 || similarity < minSimilarity) return;
      const position = index.positions[example] ?? 0;
      candidates.push({ example, position, similarity, by, chars: index.charsOf[example] ?? 0 });
    },
    /** Whether nothing that is less similar than `bound` can be chosen. */
    isSettled(bound: number): boolean {
      if (bound < minSimilarity || k === 0) return true;
      const { length } = candidates;
      const isDue = length > Math.max(chosenOf + 16, chosenOf * 1.25) || chosenOf === 0;
      if (isDue || (bound < least && length > chosenOf)) {
        chosenOf = length;
        const { chosen } = choose();
        least = chosen.length < k ? 0 : (chosen.at(-1)?.similarity ?? 0);
      }
      return bound < least;
    },
    /** What is less similar is not chosen. With a budget, any might be, in place of one that no longer fits. */
    floor: () => (maxChars === undefined ? least : 0),
  };
}

/** By falling similarity, then position, without duplicates and what no longer fits. */
function chooseExamples(
  { pairOf }: ExampleIndex,
  candidates: Candidate[],
  { k, maxChars = Number.POSITIVE_INFINITY, keepsDuplicates = false }: Wanted,
): { chosen: Candidate[]; duplicate: number; budget: number } {
  candidates.sort((a, b) => b.similarity - a.similarity || a.example - b.example);
  const chosen: Candidate[] = [];
  const pairs = new Set<number>();
  let [chars, duplicate, budget] = [0, 0, 0];
  for (const candidate of candidates) {
    if (chosen.length >= k) break;
    const pair = pairOf[candidate.example] ?? 0;
    if (!keepsDuplicates && pairs.has(pair)) duplicate += 1;
    else if (chosen.length > 0 && chars + candidate.chars > maxChars) budget += 1;
    else {
      pairs.add(pair);
      chars += candidate.chars;
      chosen.push(candidate);
    }
  }
  return { chosen, duplicate, budget };
}
