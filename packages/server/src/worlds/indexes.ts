import { Worker } from "node:worker_threads";
import { readRevisionLines } from "../datasets/samples.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { type ThreadClient, threadClient } from "../platform/storage/thread.ts";
import type { Fields } from "./fields.ts";
import type { Wanted } from "./find-examples.ts";
import type { ExampleFilter, Found, IndexFigures, IndexReply, IndexRequest } from "./index-thread.ts";

/** Samples of a revision, by its row's id. */
export interface ExampleSource {
  revisionId: number;
  filter: ExampleFilter;
}

/** Examples that cannot be made searchable. */
export class UnusableExamplesError extends Error {}

/** Makes examples searchable, in a thread: at first use, and until the memory is needed for others. */
export interface Indexes {
  /** Throws an `UnusableExamplesError` if they are too many. */
  describe(reader: Database, source: ExampleSource, signal?: AbortSignal): Promise<IndexFigures>;
  /** Throws a `ServiceError` if they are not searchable in time. */
  find(
    reader: Database,
    source: ExampleSource,
    wanted: Wanted & { query: Fields },
    signal?: AbortSignal,
  ): Promise<Found & Pick<IndexFigures, "filtered">>;
  /** Forgets the examples of revisions that are deleted. */
  forget(revisionIds: readonly number[]): void;
  bytes(): number;
  stop(): Promise<void>;
}

/** How long a request waits for its index. */
const maxWaitMs = 30_000;
const retryAfterS = 5;
/** A place in postings has 24 bits. */
const maxExamples = 2_000_000;

interface Entry {
  revisionId: number;
  figures: Promise<IndexFigures>;
  bytes: number;
}

export function createIndexes({ maxBytes }: { maxBytes: number }): Indexes {
  // The least recently used first.
  const entries = new Map<string, Entry>();
  const stopping = new AbortController();
  let thread: ThreadClient<IndexRequest, IndexReply> | undefined;

  function currentThread(): ThreadClient<IndexRequest, IndexReply> {
    if (thread === undefined || thread.hasEnded()) {
      entries.clear();
      thread = threadClient(new Worker(new URL("./index-thread.ts", import.meta.url)));
    }
    return thread;
  }

  function drop(key: string): void {
    entries.delete(key);
    // If the thread has ended, there is nothing to drop.
    thread?.send({ kind: "drop", key }).catch(() => {});
  }

  function makeRoom(key: string): void {
    let bytes = heldBytes();
    for (const [other, entry] of entries) {
      if (bytes <= maxBytes) return;
      if (other === key || entry.bytes === 0) continue;
      bytes -= entry.bytes;
      drop(other);
    }
  }

  const heldBytes = () => [...entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);

  async function build(reader: Database, key: string, { revisionId, filter }: ExampleSource) {
    const builder = currentThread();
    let count = 0;
    for await (const piece of readRevisionLines(reader, revisionId, stopping.signal)) {
      count += piece.length;
      if (count > maxExamples) throw tooMany(`more than ${maxExamples.toLocaleString("en")} samples`);
      const positions = piece.map(({ position }) => position);
      const lines = piece.map(({ line }) => line).join("\n");
      await builder.send({ kind: "add", key, filter, positions, lines });
    }
    // The thread answers with what was asked for.
    const figures = (await builder.send({ kind: "finish", key })) as IndexFigures;
    if (figures.bytes > maxBytes)
      throw tooMany(`${figures.bytes} bytes once they are searchable, and ${maxBytes} are allowed`);
    return figures;
  }

  function open(reader: Database, source: ExampleSource): { key: string; entry: Entry } {
    currentThread();
    const key = JSON.stringify([source.revisionId, source.filter]);
    const known = entries.get(key);
    entries.delete(key);
    const entry = known ?? {
      ...{ revisionId: source.revisionId, figures: build(reader, key, source), bytes: 0 },
    };
    entries.set(key, entry);
    if (known === undefined)
      entry.figures.then(
        ({ bytes }) => {
          entry.bytes = bytes;
          makeRoom(key);
        },
        () => {
          if (entries.get(key) === entry) drop(key);
        },
      );
    return { key, entry };
  }

  async function describe(reader: Database, source: ExampleSource, signal?: AbortSignal) {
    return await soonEnough(open(reader, source).entry.figures, signal);
  }

  return {
    describe,
    async find(reader, source, { query, ...wanted }, signal) {
      const { filtered } = await describe(reader, source, signal);
      const { key } = open(reader, source);
      const found = (await currentThread().send({ kind: "find", key, query, wanted })) as Found | undefined;
      if (found !== undefined) return { ...found, filtered };
      // It was dropped meanwhile, or its thread has ended.
      entries.delete(key);
      throw notReady();
    },
    forget(revisionIds) {
      for (const [key, { revisionId }] of entries) if (revisionIds.includes(revisionId)) drop(key);
    },
    bytes: heldBytes,
    async stop() {
      stopping.abort();
      await thread?.end();
    },
  };
}

async function soonEnough(
  building: Promise<IndexFigures>,
  signal: AbortSignal | undefined,
): Promise<IndexFigures> {
  const timeUp = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeUp.reject(notReady()), maxWaitMs).unref();
  const leave = () => timeUp.reject(signal?.reason);
  signal?.addEventListener("abort", leave);
  try {
    return await Promise.race([building, timeUp.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", leave);
  }
}

function notReady(): ServiceError {
  return new ServiceError("overloaded", "The world's examples are not searchable yet.", { retryAfterS });
}

function tooMany(what: string): UnusableExamplesError {
  return new UnusableExamplesError(
    `The examples have ${what}. Choose fewer with split, tags or max_per_trajectory`,
  );
}
