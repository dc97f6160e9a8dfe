import { createHash, hash } from "node:crypto";
import { numberOf } from "../platform/words.ts";
import { eachFeature, featuresOf, maxBytes, normalForm } from "./features.ts";
import { codePoints, type Fields } from "./world.ts";

/** A recorded transition. Examples are added in the order of their positions. */
export interface Example {
  position: number;
  trajectoryId: string;
  fields: Fields;
  nextState: string;
  tags?: Readonly<Record<string, string>> | undefined;
}

/** The distinct texts of a field, by number. */
export interface Texts {
  /** The features of all texts, one text after the other, in parts. */
  parts: readonly Uint32Array[];
  starts: Uint32Array;
  lengths: Uint32Array;
  norms: Float64Array;
}

/** For each window, the texts that contain it: the window's entries begin at `starts` of its list. */
export interface Postings {
  /** The window of each list. */
  windows: Uint32Array;
  starts: Uint32Array;
  /** 24 bits of text and 8 of count, as in `Features`. */
  entries: Uint32Array;
}

/**
 * Examples by number, in the order of their positions. Texts are not kept. The arrays are in shared memory: one thread builds them,
 * and another searches them.
 */
export interface BuiltIndex {
  positions: Uint32Array;
  /** The ids of trajectories and the tags, by number, as JSON, which passes between threads as one text. */
  names: string;
  /** The examples of each trajectory. */
  ofTrajectory: Groups;
  /** The examples of each tag. */
  ofTag: Groups;
  /** Equal for examples with the same whole action and the same whole next state. */
  pairOf: Uint32Array;
  /** How many code points each example costs. */
  charsOf: Uint32Array;
  actionOf: Uint32Array;
  stateOf: Uint32Array;
  taskOf: Uint32Array;
  actions: Texts;
  states: Texts;
  tasks: Texts;
  postings: Postings;
  /** The examples of each action. */
  examplesOf: Groups;
  /** A digest of the examples' whole texts. */
  texts: string;
}

/** An index to search. */
export interface ExampleIndex extends BuiltIndex {
  trajectories: ReadonlyMap<string, number>;
  /** The numbers of tags, by `tagOf`. */
  tags: ReadonlyMap<string, number>;
  /** The number of each window's list. */
  lists: ReadonlyMap<number, number>;
}

export function openIndex(built: BuiltIndex): ExampleIndex {
  const [trajectories, tags] = JSON.parse(built.names) as string[][];
  const numbered = <Key>(keys: Iterable<Key>) => new Map([...keys].map((key, number) => [key, number]));
  return {
    ...built,
    trajectories: numbered(trajectories ?? []),
    tags: numbered(tags ?? []),
    lists: numbered(built.postings.windows),
  };
}

/** Numbers by group: the numbers of each group begin at its `starts`. */
export interface Groups {
  starts: Uint32Array;
  numbers: Uint32Array;
}

/** A tag as its key in the index. */
export function tagOf(name: string, value: string): string {
  return `${name}\0${value}`;
}

/** Collects examples; `finish` makes them searchable. */
export function collectExamples() {
  const columns = {
    positions: growing(),
    pairOf: growing(),
    charsOf: growing(),
    actionOf: growing(),
    stateOf: growing(),
    taskOf: growing(),
  };
  const trajectoryOf = growing();
  const trajectories = new Map<string, number>();
  const pairs = new Map<string, number>();
  const tags = new Map<string, number>();
  const [tagAt, taggedAt] = [growing(), growing()];
  const [actions, states, tasks] = [collectTexts(), collectTexts(), collectTexts()];
  const whole = createHash("sha256");
  return {
    add({
      position,
      trajectoryId,
      fields: { action, state, task },
      nextState,
      tags: own = {},
    }: Example): void {
      for (const [name, value] of Object.entries(own)) {
        tagAt.push(numberOf(tags, tagOf(name, value)));
        taggedAt.push(columns.positions.length);
      }
      whole.update(`${[action, state, task, nextState].join("\0")}\0`);
      columns.positions.push(position);
      trajectoryOf.push(numberOf(trajectories, trajectoryId));
      columns.pairOf.push(numberOf(pairs, digestOf(normalForm(action)) + digestOf(normalForm(nextState))));
      columns.charsOf.push(codePoints(state, 1_000) + codePoints(action) + codePoints(nextState, 2_000));
      columns.actionOf.push(actions.numberOf(normalForm(action, maxBytes.action)));
      columns.stateOf.push(states.numberOf(normalForm(state, maxBytes.state)));
      columns.taskOf.push(tasks.numberOf(normalForm(task, maxBytes.task)));
    },
    finish(): BuiltIndex {
      const finished = Object.entries(columns).map(([name, column]) => [name, column.values()]);
      const of = Object.fromEntries(finished) as Record<keyof typeof columns, Uint32Array>;
      const texts = { actions: actions.finish(), states: states.finish(), tasks: tasks.finish() };
      const ofTag = group(tagAt.values(), tags.size);
      const tagged = taggedAt.values();
      for (const [at, place] of ofTag.numbers.entries()) ofTag.numbers[at] = tagged[place] ?? 0;
      return {
        ...of,
        ...texts,
        postings: invert(texts.actions),
        names: JSON.stringify([[...trajectories.keys()], [...tags.keys()]]),
        ofTrajectory: group(trajectoryOf.values(), trajectories.size),
        ofTag,
        examplesOf: group(of.actionOf, texts.actions.norms.length),
        texts: whole.digest("hex"),
      };
    },
  };
}

/** The size of chunks, so that nothing large is copied when they grow. A text is never in two chunks. */
const chunkBits = 20;

function collectTexts() {
  const numbers = new Map<string, number>();
  const parts: Uint32Array[] = [];
  const [starts, lengths] = [growing(), growing()];
  const norms: number[] = [];
  let used = 2 ** chunkBits;
  return {
    numberOf(normal: Uint8Array): number {
      const number = numberOf(numbers, digestOf(normal));
      if (number < norms.length) return number;
      const { codes, norm } = featuresOf(normal);
      if (used + codes.length > 2 ** chunkBits) {
        parts.push(shared(2 ** chunkBits));
        used = 0;
      }
      parts.at(-1)?.set(codes, used);
      starts.push((parts.length - 1) * 2 ** chunkBits + used);
      lengths.push(codes.length);
      norms.push(norm);
      used += codes.length;
      return number;
    },
    finish(): Texts {
      const itsNorms = new Float64Array(new SharedArrayBuffer(8 * norms.length));
      itsNorms.set(norms);
      return { parts, starts: starts.values(), lengths: lengths.values(), norms: itsNorms };
    },
  };
}

const nothing = new Uint32Array();

/** Where a text's features are: in `codes`, from `start` to `end`. */
export function featuresAt({ parts, starts, lengths }: Texts, text: number) {
  const at = starts[text] ?? 0;
  const start = at & (2 ** chunkBits - 1);
  return { codes: parts[at >>> chunkBits] ?? nothing, start, end: start + (lengths[text] ?? 0) };
}

function invert(texts: Texts): Postings {
  const lists = new Map<number, number>();
  const sizes = growing();
  const count = texts.norms.length;
  const eachText = (text: number, visit: Parameters<typeof eachFeature>[1]) => {
    const { codes, start, end } = featuresAt(texts, text);
    eachFeature(codes, visit, start, end);
  };
  for (let text = 0; text < count; text += 1)
    eachText(text, (window, count) => {
      const list = numberOf(lists, window);
      if (list === sizes.length) sizes.push(0);
      sizes.add(list, count > 255 ? 2 : 1);
    });
  const starts = toStarts(sizes.values());
  const next = starts.slice();
  const entries = shared(starts.at(-1) ?? 0);
  for (let text = 0; text < count; text += 1)
    eachText(text, (window, count) => {
      const list = lists.get(window) ?? 0;
      let at = next[list] ?? 0;
      entries[at++] = (text << 8) | (count > 255 ? 0 : count);
      if (count > 255) entries[at++] = count;
      next[list] = at;
    });
  const windows = shared(lists.size);
  windows.set([...lists.keys()]);
  return { windows, starts, entries };
}

/** The places of a column, grouped by the value there. */
function group(values: Uint32Array, groups: number): Groups {
  const sizes = new Uint32Array(groups);
  for (const value of values) sizes[value] = (sizes[value] ?? 0) + 1;
  const starts = toStarts(sizes);
  const next = starts.slice();
  const numbers = shared(values.length);
  for (let place = 0; place < values.length; place += 1) {
    const value = values[place] ?? 0;
    const at = next[value] ?? 0;
    numbers[at] = place;
    next[value] = at + 1;
  }
  return { starts, numbers };
}

/** Where groups of these sizes begin, and where the last one ends. */
function toStarts(sizes: Uint32Array): Uint32Array {
  const starts = shared(sizes.length + 1);
  for (const [group, size] of sizes.entries()) starts[group + 1] = (starts[group] ?? 0) + size;
  return starts;
}

function shared(length: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(4 * length));
}

function growing() {
  let array = new Uint32Array(1_024);
  let length = 0;
  return {
    get length() {
      return length;
    },
    push(value: number): void {
      if (length === array.length) {
        const wider = new Uint32Array(2 * length);
        wider.set(array);
        array = wider;
      }
      array[length++] = value;
    },
    add(index: number, value: number): void {
      array[index] = (array[index] ?? 0) + value;
    },
    values(): Uint32Array {
      const values = shared(length);
      values.set(array.subarray(0, length));
      return values;
    },
  };
}

function digestOf(bytes: Uint8Array): string {
  return hash("sha256", bytes, "base64url");
}

/** About how much memory an index takes, and a digest of its examples. */
export function measureIndex(built: BuiltIndex): { bytes: number; digest: string; formerDigest: string } {
  const { positions, pairOf, charsOf, actionOf, stateOf, taskOf, postings, examplesOf, ofTrajectory } = built;
  const columns = [positions, pairOf, charsOf, actionOf, stateOf, taskOf];
  const texts = [built.actions, built.states, built.tasks];
  const parts = texts.flatMap((one) => one.parts);
  const groups = [postings.starts, postings.entries, examplesOf.starts, examplesOf.numbers];
  const arrays = [...columns, ...parts, ...groups, ofTrajectory.starts, ofTrajectory.numbers];
  const hash = createHash("sha256");
  for (const array of arrays) hash.update(array);
  const [trajectories = [], tags = []] = JSON.parse(built.names) as string[][];
  for (const id of trajectories) hash.update(id).update("\0");
  const { starts, numbers } = built.ofTag;
  for (const [tag, name] of tags.entries())
    hash
      .update(name)
      .update("\0")
      .update(numbers.subarray(starts[tag], starts[tag + 1]));
  const ofTexts = texts.reduce((sum, { norms }) => sum + bytesPerText * norms.length, 0);
  const ofMaps = bytesPerEntry * (trajectories.length + tags.length + postings.windows.length);
  const others = ofTexts + ofMaps + 2 * built.names.length + starts.byteLength + numbers.byteLength;
  return {
    bytes: arrays.reduce((sum, { byteLength }) => sum + byteLength, others),
    // Worlds may have pinned a digest from before it covered the texts.
    formerDigest: hash.copy().digest("hex"),
    digest: hash.update(built.texts).digest("hex"),
  };
}

/** The memory of a map's entry with a short key. */
const bytesPerEntry = 80;
/** The memory for where a text's features begin, how many there are, and their length. */
const bytesPerText = 16;
