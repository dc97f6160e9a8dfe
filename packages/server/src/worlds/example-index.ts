import { createHash } from "node:crypto";
import { eachFeature, type Features, featuresOf, maxBytes, normalForm } from "./features.ts";
import type { Fields } from "./world.ts";

/** A recorded transition. They are added in the order of their positions. */
export interface Example {
  position: number;
  trajectoryId: string;
  fields: Fields;
  nextState: string;
  tags?: Readonly<Record<string, string>> | undefined;
}

/** Distinct texts of a field, by number. */
export interface Texts {
  count: number;
  /** All of their features, one text after the other, in parts. */
  parts: readonly Uint32Array[];
  featuresOf(text: number): Features;
  norms: Float64Array;
}

/** For each window the texts that have it: its entries begin at `starts` of its list. */
export interface Postings {
  lists: ReadonlyMap<number, number>;
  starts: Uint32Array;
  /** 24 bits of text and 8 of count, as `Features` have them. */
  entries: Uint32Array;
}

/** Examples to search, by number, in the order of their positions. Texts are not kept. */
export interface ExampleIndex {
  positions: Uint32Array;
  trajectories: ReadonlyMap<string, number>;
  /** The examples of each trajectory. */
  ofTrajectory: Groups;
  /** The examples of each tag, by `tagOf`. */
  tagged: ReadonlyMap<string, readonly number[]>;
  /** Equal where the whole action and the whole next state are. */
  pairOf: Uint32Array;
  /** Code points that an example costs. */
  charsOf: Uint32Array;
  actionOf: Uint32Array;
  stateOf: Uint32Array;
  taskOf: Uint32Array;
  actions: Texts;
  states: Texts;
  tasks: Texts;
  postings: Postings;
  /** The examples of each action begin at `starts` of it. */
  examplesOf: Groups;
}

/** Numbers by group: those of each begin at `starts` of it. */
export interface Groups {
  starts: Uint32Array;
  numbers: Uint32Array;
}

/** A tag as the index knows it. */
export function tagOf(name: string, value: string): string {
  return `${name}\0${value}`;
}

/** What is done between two yields takes a few milliseconds. */
const workAtOnce = 100_000;

/** Collects examples; `finish` makes them searchable, in slices. */
export function collectExamples() {
  const columns = {
    ...{ positions: growing(), trajectoryOf: growing(), pairOf: growing(), charsOf: growing() },
    ...{ actionOf: growing(), stateOf: growing(), taskOf: growing() },
  };
  const trajectories = new Map<string, number>();
  const pairs = new Map<string, number>();
  const tagged = new Map<string, number[]>();
  const [actions, states, tasks] = [collectTexts(), collectTexts(), collectTexts()];
  return {
    add({ position, trajectoryId, fields: { action, state, task }, nextState, tags = {} }: Example): void {
      for (const [name, value] of Object.entries(tags)) {
        const tag = tagOf(name, value);
        const examples = tagged.get(tag);
        if (examples === undefined) tagged.set(tag, [columns.positions.length]);
        else examples.push(columns.positions.length);
      }
      columns.positions.push(position);
      columns.trajectoryOf.push(numberOf(trajectories, trajectoryId));
      columns.pairOf.push(numberOf(pairs, digestOf(normalForm(action)) + digestOf(normalForm(nextState))));
      columns.charsOf.push(
        codePoints(state, 1_000) +
          codePoints(action, Number.POSITIVE_INFINITY) +
          codePoints(nextState, 2_000),
      );
      columns.actionOf.push(actions.numberOf(normalForm(action, maxBytes.action)));
      columns.stateOf.push(states.numberOf(normalForm(state, maxBytes.state)));
      columns.taskOf.push(tasks.numberOf(normalForm(task, maxBytes.task)));
    },
    *finish(): Generator<undefined, ExampleIndex> {
      const of = {
        positions: columns.positions.values(),
        ...{ pairOf: columns.pairOf.values(), charsOf: columns.charsOf.values() },
        ...{ actionOf: columns.actionOf.values(), stateOf: columns.stateOf.values() },
        taskOf: columns.taskOf.values(),
      };
      const texts = { actions: actions.finish(), states: states.finish(), tasks: tasks.finish() };
      const postings = yield* invert(texts.actions);
      const examplesOf = group(of.actionOf, texts.actions.count);
      const ofTrajectory = group(columns.trajectoryOf.values(), trajectories.size);
      return { ...of, ...texts, trajectories, ofTrajectory, tagged, postings, examplesOf };
    },
  };
}

/** Chunks, so that nothing large is copied when they grow. A text is never in two. */
const chunkBits = 20;

function collectTexts() {
  const numbers = new Map<string, number>();
  const chunks: Uint32Array[] = [];
  const [starts, lengths] = [growing(), growing()];
  const norms: number[] = [];
  let used = 2 ** chunkBits;
  return {
    numberOf(normal: Uint8Array): number {
      const number = numberOf(numbers, digestOf(normal));
      if (number < norms.length) return number;
      const { codes, norm } = featuresOf(normal);
      if (used + codes.length > 2 ** chunkBits) {
        chunks.push(new Uint32Array(2 ** chunkBits));
        used = 0;
      }
      chunks.at(-1)?.set(codes, used);
      starts.push((chunks.length - 1) * 2 ** chunkBits + used);
      lengths.push(codes.length);
      norms.push(norm);
      used += codes.length;
      return number;
    },
    finish(): Texts {
      const [startOf, lengthOf, itsNorms] = [starts.values(), lengths.values(), Float64Array.from(norms)];
      const nothing = new Uint32Array();
      return {
        count: itsNorms.length,
        parts: chunks,
        norms: itsNorms,
        featuresOf(text) {
          const start = startOf[text] ?? 0;
          const from = start & (2 ** chunkBits - 1);
          const chunk = chunks[start >>> chunkBits] ?? nothing;
          return { codes: chunk.subarray(from, from + (lengthOf[text] ?? 0)), norm: itsNorms[text] ?? 0 };
        },
      };
    },
  };
}

function* invert(texts: Texts): Generator<undefined, Postings> {
  const lists = new Map<number, number>();
  const sizes = growing();
  yield* inSlices(texts.count, (text) => {
    const { codes } = texts.featuresOf(text);
    eachFeature(codes, (window, count) => {
      const list = numberOf(lists, window);
      if (list === sizes.length) sizes.push(0);
      sizes.add(list, count > 255 ? 2 : 1);
    });
    return codes.length;
  });
  const starts = toStarts(sizes.values());
  const next = starts.slice();
  const entries = new Uint32Array(starts.at(-1) ?? 0);
  yield* inSlices(texts.count, (text) => {
    const { codes } = texts.featuresOf(text);
    eachFeature(codes, (window, count) => {
      const list = lists.get(window) ?? 0;
      let at = next[list] ?? 0;
      entries[at++] = (text << 8) | (count > 255 ? 0 : count);
      if (count > 255) entries[at++] = count;
      next[list] = at;
    });
    return codes.length;
  });
  return { lists, starts, entries };
}

/** The places of a column by the value there. A million take a few milliseconds. */
function group(values: Uint32Array, groups: number): Groups {
  const sizes = new Uint32Array(groups);
  for (const value of values) sizes[value] = (sizes[value] ?? 0) + 1;
  const starts = toStarts(sizes);
  const next = starts.slice();
  const numbers = new Uint32Array(values.length);
  for (let place = 0; place < values.length; place += 1) {
    const value = values[place] ?? 0;
    const at = next[value] ?? 0;
    numbers[at] = place;
    next[value] = at + 1;
  }
  return { starts, numbers };
}

/** Where groups of these sizes begin, and the end. */
function toStarts(sizes: Uint32Array): Uint32Array {
  const starts = new Uint32Array(sizes.length + 1);
  for (const [group, size] of sizes.entries()) starts[group + 1] = (starts[group] ?? 0) + size;
  return starts;
}

/** `work` returns how much it was. */
function* inSlices(texts: number, work: (text: number) => number): Generator<undefined, void> {
  for (let text = 0, done = 0; text < texts; text += 1) {
    done += 1 + work(text);
    if (done < workAtOnce) continue;
    done = 0;
    yield;
  }
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
    values: () => array.slice(0, length),
  };
}

function numberOf<Key>(numbers: Map<Key, number>, key: Key): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64url");
}

/** What it takes in memory, about, and a digest of what is searched. */
export function measureIndex(index: ExampleIndex): { bytes: number; digest: string } {
  const { positions, pairOf, charsOf, actionOf, stateOf, taskOf, postings, examplesOf, ofTrajectory } = index;
  const columns = [positions, pairOf, charsOf, actionOf, stateOf, taskOf];
  const texts = [index.actions, index.states, index.tasks];
  const parts = texts.flatMap((one) => one.parts);
  const groups = [postings.starts, postings.entries, examplesOf.starts, examplesOf.numbers];
  const arrays = [...columns, ...parts, ...groups, ofTrajectory.starts, ofTrajectory.numbers];
  const hash = createHash("sha256");
  for (const array of arrays) hash.update(array);
  let names = 0;
  for (const id of index.trajectories.keys()) {
    hash.update(id).update("\0");
    names += id.length;
  }
  let tags = 0;
  for (const [tag, examples] of index.tagged) {
    hash.update(tag).update("\0").update(Uint32Array.from(examples));
    tags += bytesPerEntry + tag.length + 8 * examples.length;
  }
  const ofTexts = texts.reduce((sum, { count }) => sum + bytesPerText * count, 0);
  const ofMaps = bytesPerEntry * (index.trajectories.size + postings.lists.size) + names;
  const bytes = arrays.reduce((sum, { byteLength }) => sum + byteLength, ofTexts + ofMaps + tags);
  return { bytes, digest: hash.digest("hex") };
}

/** Of a map with short keys. */
const bytesPerEntry = 80;
/** Where its features begin, how many they are, and their length. */
const bytesPerText = 16;

/** A text's length, up to a maximum. */
function codePoints(text: string, most: number): number {
  let count = 0;
  for (const _ of text) {
    if (count === most) break;
    count += 1;
  }
  return count;
}
