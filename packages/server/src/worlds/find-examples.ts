import { worldDefaults } from "@presage/contract/defaults";
import TinyQueue from "tinyqueue";
import { type ExampleIndex, featuresAt, type Groups, tagOf } from "./example-index.ts";
import {
  compareWith,
  eachFeature,
  type Features,
  featuresOf,
  maxBytes,
  normalForm,
  weightOf,
} from "./features.ts";
import type { Fields } from "./world.ts";

/** Which examples to find in an index. */
export interface Wanted {
  k: number;
  /** Code points that all examples together may cost; the first one always fits. */
  maxChars?: number | undefined;
  /** How many examples are compared at most, by falling similarity of the action. */
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
  /** Rounded, because the order depends on it. */
  similarity: number;
  by: Record<keyof Fields, number>;
  chars: number;
}

export interface FoundExamples {
  /** The most similar first. */
  examples: FoundExample[];
  /** Whether `maxVisits` left out some examples that could have been chosen. */
  isTruncated: boolean;
  /** How many were passed over, because they were excluded or while choosing. */
  leftOut: { trajectory: number; duplicate: number; budget: number };
}

const defaultMaxVisits = 50_000;
const million = 1e6;
/** More than the differences from rounding and from adding in another order. */
const slack = 1e-6;

/** An example whose action and task are compared. */
interface Visited {
  example: number;
  action: number;
  task: number;
  /** The similarity without the state, and the most that it can be with the state. */
  known: number;
  most: number;
}

interface Candidate extends FoundExample {
  example: number;
}

/**
 * The examples most similar to a query, by actions of falling similarity. It ends where the rest cannot be chosen: an example with a less
 * similar action has at most that similarity, plus the full similarity of the other fields.
 */
export function findExamples(index: ExampleIndex, query: Fields, wanted: Wanted): FoundExamples {
  const excluded = excludedOf(index, wanted);
  const action = featuresOf(normalForm(query.action, maxBytes.action));
  const similarities = actionSimilarities(index, action);
  const states = comparisons(index.states, featuresOf(normalForm(query.state, maxBytes.state)), 0);
  const tasks = comparisons(index.tasks, featuresOf(normalForm(query.task, maxBytes.task)), 1);
  const norms = { action: action.norm, state: states.norm, task: tasks.norm };
  const weights = scaledWeights(norms, wanted.weights ?? worldDefaults.weights);
  try {
    return search(index, similarities, { states, tasks, weights, excluded, wanted });
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

/** The similarity of each action, and the greatest. */
interface ActionSimilarities {
  ofAction: Float64Array;
  greatest: number;
}

function search(index: ExampleIndex, similarities: ActionSimilarities, searched: Search): FoundExamples {
  const { tasks, weights, excluded, wanted } = searched;
  const { ofAction } = similarities;
  const pool = choosing(index, searched);
  let room = wanted.maxVisits ?? defaultMaxVisits;
  let isTruncated = false;
  for (const { similarity, actions } of byFalling(similarities)) {
    const bound = weights.action * similarity + weights.state + weights.task + slack;
    if (bound <= slack || pool.isSettled(bound)) break;
    let examples = examplesOf(index, actions, excluded);
    isTruncated = examples.length > room;
    if (isTruncated) examples = examples.sort((a, b) => a - b).slice(0, room);
    for (const example of examples) {
      const action = ofAction[index.actionOf[example] ?? 0] ?? 0;
      const task = tasks.similarity(index.taskOf[example] ?? 0);
      const known = weights.action * action + weights.task * task;
      pool.add({ example, action, task, known, most: known + weights.state + slack });
    }
    room -= examples.length;
    if (isTruncated) break;
  }
  const { examples, leftOut } = pool.choose();
  return { examples, isTruncated, leftOut: { trajectory: excluded.size, ...leftOut } };
}

function excludedOf(
  { trajectories, ofTrajectory, tags, ofTag }: ExampleIndex,
  { excluded = [], excludedTags = {} }: Wanted,
): ReadonlySet<number> {
  const examples = new Set<number>();
  const addGroup = (groups: Groups, number: number | undefined) => {
    if (number !== undefined) eachOf(groups, number, (example) => examples.add(example));
  };
  for (const id of excluded) addGroup(ofTrajectory, trajectories.get(id));
  for (const [name, value] of Object.entries(excludedTags)) addGroup(ofTag, tags.get(tagOf(name, value)));
  return examples;
}

/** Visits the numbers of a group, without a view of the array, which would cost more than a short group. */
function eachOf({ starts, numbers }: Groups, group: number, visit: (number: number) => void): void {
  const end = starts[group + 1] ?? 0;
  for (let at = starts[group] ?? 0; at < end; at += 1) visit(numbers[at] ?? 0);
}

/** Rounds half up, to 6 decimals. */
function rounded(value: number): number {
  return Math.floor(value * million + 0.5) / million;
}

/** The weights of the fields that the query has, scaled to sum to 1. */
function scaledWeights(norms: Record<keyof Fields, number>, weights: NonNullable<Wanted["weights"]>) {
  const present = (field: keyof Fields) => (norms[field] > 0 ? weights[field] : 0);
  const [action, state, task] = [present("action"), present("state"), present("task")];
  const sum = action + state + task || 1;
  return { action: action / sum, state: state / sum, task: task / sum };
}

let sums = new Float64Array();

/** The similarity of each action to the query's, valid until the next call. */
function actionSimilarities(
  { actions, lists, postings: { starts, entries } }: ExampleIndex,
  { codes, norm }: Features,
): ActionSimilarities {
  // A new array each time would make the garbage collector run often.
  if (sums.length === actions.norms.length) sums.fill(0);
  else sums = new Float64Array(actions.norms.length);
  eachFeature(codes, (window, count) => {
    const list = lists.get(window);
    if (list === undefined) return;
    const weight = (weightOf[count] ?? 0) / norm;
    const end = starts[list + 1] ?? 0;
    for (let at = starts[list] ?? 0; at < end; at += 1) {
      const entry = entries[at] ?? 0;
      const action = entry >>> 8;
      const itsCount = entry & 0xff || (entries[++at] ?? 0);
      sums[action] = (sums[action] ?? 0) + weight * (weightOf[itsCount] ?? 0);
    }
  });
  let greatest = 0;
  for (let action = 0; action < sums.length; action += 1) {
    const sum = sums[action] ?? 0;
    if (sum === 0) continue;
    const similarity = sum / (actions.norms[action] ?? 0);
    sums[action] = similarity;
    if (similarity > greatest) greatest = similarity;
  }
  return { ofAction: sums, greatest };
}

/** Compares each distinct text once. */
function comparisons(texts: ExampleIndex["states"], query: Features, place: 0 | 1) {
  const { cosine, release } = compareWith(query, place);
  const known = new Map<number, number>();
  return {
    norm: query.norm,
    release,
    similarity(text: number): number {
      let similarity = known.get(text);
      if (similarity === undefined) {
        const { codes, start, end } = featuresAt(texts, text);
        similarity = cosine(codes, start, end, texts.norms[text] ?? 0);
        known.set(text, similarity);
      }
      return similarity;
    },
  };
}

/** Bounds, as shares of the greatest similarity. Few actions are above the first, and most searches end there. */
const stretches = [0.8, 0.6, 0.4, 0.2, 0];

/** Actions of equal rounded similarity together, falling. Loops inside a generator are slow, so it has none over all actions. */
function* byFalling({
  ofAction,
  greatest,
}: ActionSimilarities): Generator<{ similarity: number; actions: number[] }, void> {
  let above = Number.POSITIVE_INFINITY;
  for (const share of stretches) {
    const least = rounded(share * greatest);
    const groups = Map.groupBy(actionsFrom(least, ofAction), (action) => rounded(ofAction[action] ?? 0));
    for (const [similarity, actions] of [...groups].sort(([a], [b]) => b - a))
      if (similarity >= least && similarity < above) yield { similarity, actions };
    above = least;
  }
}

/** Actions that are at least this similar, or would be after rounding. */
function actionsFrom(least: number, ofAction: Float64Array): number[] {
  const found: number[] = [];
  for (let action = 0; action < ofAction.length; action += 1)
    if ((ofAction[action] ?? 0) + slack >= least) found.push(action);
  return found;
}

function examplesOf(
  { examplesOf: groups }: ExampleIndex,
  actions: readonly number[],
  excluded: ReadonlySet<number>,
): number[] {
  const examples: number[] = [];
  for (const action of actions)
    eachOf(groups, action, (example) => {
      if (!excluded.has(example)) examples.push(example);
    });
  return examples;
}

/** Compares states as late as it can, and chooses an example once nothing else can come before it. */
function choosing(index: ExampleIndex, { states, weights, wanted }: Search) {
  const { k, minSimilarity = 0, maxChars = Number.POSITIVE_INFINITY, keepsDuplicates = false } = wanted;
  const visited = new TinyQueue<Visited>([], (a, b) => b.most - a.most);
  const compared = new TinyQueue<Candidate>(
    [],
    (a, b) => b.similarity - a.similarity || a.example - b.example,
  );
  const chosen: Candidate[] = [];
  const pairs = new Set<number>();
  const passedOver = { duplicate: 0, budget: 0 };
  let chars = 0;

  /** Takes a candidate unless it is a duplicate or no longer fits. */
  function offer(candidate: Candidate): void {
    const pair = index.pairOf[candidate.example] ?? 0;
    if (!keepsDuplicates && pairs.has(pair)) passedOver.duplicate += 1;
    else if (chosen.length > 0 && chars + candidate.chars > maxChars) passedOver.budget += 1;
    else {
      pairs.add(pair);
      chars += candidate.chars;
      chosen.push(candidate);
    }
  }

  function compare({ example, action, task, known }: Visited): void {
    const state = states.similarity(index.stateOf[example] ?? 0);
    const similarity = rounded(known + weights.state * state);
    if (similarity === 0 || similarity < minSimilarity) return;
    const by = { action: rounded(action), state: rounded(state), task: rounded(task) };
    const position = index.positions[example] ?? 0;
    compared.push({ example, position, similarity, by, chars: index.charsOf[example] ?? 0 });
  }

  /** Chooses examples that are more similar than `bound`. Returns whether nothing else can be chosen. */
  function isSettled(bound: number): boolean {
    while (chosen.length < k) {
      const most = Math.max(bound, visited.peek()?.most ?? 0);
      const next = compared.peek();
      if (most < minSimilarity && next === undefined) return true;
      if (next !== undefined && next.similarity > most) {
        compared.pop();
        offer(next);
      } else {
        const first = most > bound ? visited.pop() : undefined;
        if (first === undefined) return false;
        compare(first);
      }
    }
    return true;
  }

  return {
    add: (example: Visited) => visited.push(example),
    isSettled,
    /** Chooses from the rest, once nothing more is to come. */
    choose() {
      isSettled(0);
      return { examples: chosen.map(({ example: _, ...found }) => found), leftOut: passedOver };
    },
  };
}
