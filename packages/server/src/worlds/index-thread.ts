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
import { type ExampleSource, type Fields, fieldsOf, isExample } from "./world.ts";

// The entry file of the thread that holds the indexes of examples, and of the threads that build an index.

/** A search in the index with this key. */
export interface Sought {
  key: number;
  query: Fields;
  wanted: Wanted;
}

/** A revision's samples in their order. */
export type Lines = readonly { position: number; line: string }[];

/** A request to a thread: one thread holds the indexes, which are known by their keys, and each build has its own thread. */
export type IndexRequest =
  /** `from` is the lines of a database in memory, or the address of any other database. */
  | { kind: "build"; source: ExampleSource; from: string | Lines; most: number }
  | { kind: "hold"; key: number; built: BuiltIndex }
  /** Several searches in one message, as JSON: waking a thread and copying objects cost more than a search. */
  | { kind: "find"; searches: string }
  | { kind: "drop"; key: number };

export interface IndexFigures {
  examples: number;
  trajectories: number;
  actions: number;
  /** Samples of the revision that are not examples. */
  filtered: number;
  bytes: number;
  digest: string;
  /** As worlds pinned it before the digest was one of the texts as well. */
  formerDigest: string;
}

/** The examples found, and the time that the search took. Null if there is no such index. */
export type Found = (FoundExamples & { ms: number }) | null;
/** For a build, the index, or undefined if there are more than `most` examples; for searches, what each has `Found`, as JSON. */
export type IndexReply = Built | string | undefined;

export interface Built {
  built: BuiltIndex;
  figures: IndexFigures;
}

const indexes = new Map<number, ExampleIndex>();

/** Up to this many samples are read at full priority, because that takes only a moment and a caller is waiting. */
const brief = 2_000;

async function build({
  source: { revisionId, filter },
  from,
  most,
}: IndexRequest & { kind: "build" }): Promise<Built | undefined> {
  const collected = collectExamples();
  const ofTrajectory = new Map<string, number>();
  let [filtered, read] = [0, 0];
  for await (const piece of typeof from === "string" ? readLines(from, revisionId) : [from]) {
    for (const { position, line } of piece) {
      // The line was written from a `DatasetSample`.
      const sample = JSON.parse(line) as DatasetSample;
      const { trajectory_id: trajectoryId, next_state: nextState, tags } = sample;
      const before = ofTrajectory.get(trajectoryId) ?? 0;
      if (!isExample(sample, filter) || before >= (filter.maxPerTrajectory ?? Number.POSITIVE_INFINITY)) {
        filtered += 1;
        continue;
      }
      ofTrajectory.set(trajectoryId, before + 1);
      collected.add({ position, trajectoryId, fields: fieldsOf(sample), nextState, tags });
    }
    const before = read;
    read += piece.length;
    if (read - filtered > most) return undefined;
    if (before <= brief && read > brief) workInBackground();
  }
  const built = collected.finish();
  const counts = {
    examples: built.positions.length,
    trajectories: ofTrajectory.size,
    actions: built.actions.norms.length,
  };
  return { built, figures: { ...counts, filtered, ...measureIndex(built) } };
}

/** Reads lines on a connection of its own, so that no other thread has the work. */
async function* readLines(url: string, revisionId: number): AsyncGenerator<Lines> {
  // Imported here, because a thread that searches needs neither.
  const { openThreadDatabase } = await import("../platform/storage/open.ts");
  const { readRevisionLines } = await import("../datasets/samples.ts");
  const database = await openThreadDatabase(url);
  try {
    yield* readRevisionLines(database, revisionId, new AbortController().signal);
  } finally {
    await database.destroy();
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
    if (request.kind === "find") return JSON.stringify((JSON.parse(request.searches) as Sought[]).map(find));
    if (request.kind === "build") return build(request);
    if (request.kind === "hold") indexes.set(request.key, openIndex(request.built));
    else indexes.delete(request.key);
    return undefined;
  },
  close() {},
});
