import { workerData } from "node:worker_threads";
import type { DatasetSample } from "@presage/contract";
import { serveRequests, workInBackground } from "../platform/storage/thread.ts";
import {
  type BuiltIndex,
  collectExamples,
  type ExampleIndex,
  measureIndex,
  openIndex,
} from "./example-index.ts";
import { type FoundExamples, findExamples, type Wanted } from "./find-examples.ts";
import { type ExampleFilter, type Fields, fieldsOf, isExample } from "./world.ts";

// The entry file of the thread that holds the indexes of examples, and of those that build one. They have no connection to the database.

/** A search in the index of this key. */
export interface Sought {
  key: number;
  query: Fields;
  wanted: Wanted;
}

/** What is asked of a thread: one holds the indexes, which are known by their keys, and each build has one of its own. */
export type IndexRequest =
  | { kind: "add"; filter: ExampleFilter; positions: number[]; lines: string }
  | { kind: "finish" }
  | { kind: "hold"; key: number; built: BuiltIndex }
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
/** Of a build's end the index, of searches what each has `Found`, as JSON. */
export type IndexReply = Built | string | undefined;

export interface Built {
  built: BuiltIndex;
  figures: IndexFigures;
}

const collected = collectExamples();
const ofTrajectory = new Map<string, number>();
let filtered = 0;
const indexes = new Map<number, ExampleIndex>();

function add({ filter, positions, lines }: IndexRequest & { kind: "add" }): void {
  for (const [index, line] of lines.split("\n").entries()) {
    // It was written as one.
    const sample = JSON.parse(line) as DatasetSample;
    const { trajectory_id: trajectoryId, next_state: nextState, tags } = sample;
    const before = ofTrajectory.get(trajectoryId) ?? 0;
    if (!isExample(sample, filter) || before >= (filter.maxPerTrajectory ?? Number.POSITIVE_INFINITY)) {
      filtered += 1;
      continue;
    }
    ofTrajectory.set(trajectoryId, before + 1);
    const position = positions[index] ?? 0;
    collected.add({ position, trajectoryId, fields: fieldsOf(sample), nextState, tags });
  }
}

function finish(): Built {
  const built = collected.finish();
  const counts = {
    examples: built.positions.length,
    trajectories: ofTrajectory.size,
    actions: built.actions.norms.length,
  };
  return { built, figures: { ...counts, filtered, ...measureIndex(built) } };
}

function find({ key, query, wanted }: Sought): Found {
  const index = indexes.get(key);
  if (index === undefined) return null;
  const startedAtMs = performance.now();
  return { ...findExamples(index, query, wanted), ms: performance.now() - startedAtMs };
}

if (workerData === "builds") workInBackground();

serveRequests<IndexRequest, IndexReply>({
  respond(request) {
    if (request.kind === "find") return JSON.stringify((JSON.parse(request.searches) as Sought[]).map(find));
    if (request.kind === "finish") return finish();
    if (request.kind === "add") add(request);
    else if (request.kind === "hold") indexes.set(request.key, openIndex(request.built));
    else indexes.delete(request.key);
    return undefined;
  },
  close() {},
});
