import { setImmediate as nextTurn } from "node:timers/promises";
import type { DatasetSample } from "@presage/contract";
import { serveRequests } from "../platform/storage/thread.ts";
import { collectExamples, type ExampleIndex, measureIndex } from "./example-index.ts";
import { type FoundExamples, findExamples, type Wanted } from "./find-examples.ts";
import { type ExampleFilter, type Fields, fieldsOf } from "./world.ts";

// The entry file of the thread that holds the indexes of examples. It has no connection to the database.

/** A search in the index of this key. */
export interface Sought {
  key: number;
  query: Fields;
  wanted: Wanted;
}

/** What is asked of the thread. An index is known by its key. */
export type IndexRequest =
  | { kind: "add"; key: number; filter: ExampleFilter; positions: number[]; lines: string }
  | { kind: "finish"; key: number }
  /** Several searches in one message, as JSON: waking a thread and copying objects cost more than a search. */
  | { kind: "find"; searches: string }
  | { kind: "drop"; key: number };

export interface IndexFigures {
  examples: number;
  trajectories: number;
  actions: number;
  /** Samples of the revision that are no examples. */
  filtered: number;
  bytes: number;
  digest: string;
}

/** What is found, and the time that it took. Null: there is no such index. */
export type Found = (FoundExamples & { ms: number }) | null;
/** Of searches, what each has `Found`, as JSON. */
export type IndexReply = IndexFigures | string | undefined;

interface Collecting {
  collected: ReturnType<typeof collectExamples>;
  ofTrajectory: Map<string, number>;
  filtered: number;
}

const collecting = new Map<number, Collecting>();
const indexes = new Map<number, ExampleIndex>();

function add({ key, filter, positions, lines }: IndexRequest & { kind: "add" }): undefined {
  const known = collecting.get(key);
  const into = known ?? { collected: collectExamples(), ofTrajectory: new Map(), filtered: 0 };
  if (known === undefined) collecting.set(key, into);
  for (const [index, line] of lines.split("\n").entries()) {
    // It was written as one.
    const sample = JSON.parse(line) as DatasetSample;
    const { trajectory_id: trajectoryId, next_state: nextState, tags } = sample;
    const before = into.ofTrajectory.get(trajectoryId) ?? 0;
    if (!isWanted(sample, filter) || before >= (filter.maxPerTrajectory ?? Number.POSITIVE_INFINITY)) {
      into.filtered += 1;
      continue;
    }
    into.ofTrajectory.set(trajectoryId, before + 1);
    const position = positions[index] ?? 0;
    into.collected.add({ position, trajectoryId, fields: fieldsOf(sample), nextState, tags });
  }
}

function isWanted({ tags = {} }: DatasetSample, filter: ExampleFilter): boolean {
  if (filter.split !== undefined && tags.split !== filter.split) return false;
  if (filter.leavesOutTest && tags.split === "test") return false;
  if (filter.leavesOutErrors && tags.error === "true") return false;
  return Object.entries(filter.tags ?? {}).every(([name, value]) => tags[name] === value);
}

/** In slices, between which searches of other indexes get their turn. */
async function finish(key: number): Promise<IndexFigures> {
  const { collected, filtered } = collecting.get(key) ?? { collected: collectExamples(), filtered: 0 };
  collecting.delete(key);
  const finishing = collected.finish();
  for (;;) {
    const slice = finishing.next();
    if (slice.done) {
      const index = slice.value;
      indexes.set(key, index);
      const { positions, trajectories, actions } = index;
      const counts = { examples: positions.length, trajectories: trajectories.size, actions: actions.count };
      return { ...counts, filtered, ...measureIndex(index) };
    }
    await nextTurn();
  }
}

function find({ key, query, wanted }: Sought): Found {
  const index = indexes.get(key);
  if (index === undefined) return null;
  const startedAtMs = performance.now();
  return { ...findExamples(index, query, wanted), ms: performance.now() - startedAtMs };
}

serveRequests<IndexRequest, IndexReply>({
  respond(request) {
    if (request.kind === "add") return add(request);
    if (request.kind === "finish") return finish(request.key);
    if (request.kind === "find") return JSON.stringify((JSON.parse(request.searches) as Sought[]).map(find));
    collecting.delete(request.key);
    indexes.delete(request.key);
    return undefined;
  },
  close() {},
  // Searches get their turn while another index is built.
  laneOf: ({ kind }) => (kind === "find" ? "find" : "build"),
});
