import { Worker } from "node:worker_threads";
import { LRUCache } from "lru-cache";
import { selectSealed } from "../datasets/datasets-store.ts";
import { readRevisionLines } from "../datasets/samples.ts";
import { ServiceError } from "../platform/errors.ts";
import { orAborted, withDeadline } from "../platform/limits/deadline.ts";
import { createFairSlots } from "../platform/limits/turns.ts";
import type { Database } from "../platform/storage/schema/tables.ts";
import { type ThreadClient, threadClient } from "../platform/storage/thread.ts";
import { usedParts } from "./features.ts";
import type { Wanted } from "./find-examples.ts";
import type { Built, Found, IndexFigures, IndexReply, IndexRequest, Lines, Sought } from "./index-thread.ts";
import { type ExampleSource, examplesDiffer, examplesGone, type Fields } from "./world.ts";

/** Examples that cannot be made searchable. */
export class UnusableExamplesError extends Error {}

/** Makes examples searchable in a thread, from their first use until the memory is needed for others. */
export interface Indexes {
  /** Throws an `UnusableExamplesError` if there are too many examples. */
  describe(source: ExampleSource, signal?: AbortSignal): Promise<IndexFigures>;
  /** Throws a `ServiceError` if the examples are not searchable in time. */
  find(
    source: ExampleSource,
    wanted: Wanted & { query: Fields },
    signal?: AbortSignal,
  ): Promise<NonNullable<Found> & Pick<IndexFigures, "filtered">>;
  /** Forgets the examples of revisions that are deleted. */
  forget(revisionIds: readonly number[]): void;
  /** The revisions whose examples were asked for and have not been forgotten. */
  revisionIds(): number[];
  bytes(): number;
  stop(): Promise<void>;
}

/** How long the creation of a world waits for its index. */
const maxWaitMs = 30_000;
const retryAfterS = 5;
/** The most examples of an index, as a place in postings has 24 bits. */
const maxExamples = 2_000_000;

interface Entry {
  name: string;
  /** The index's key in the thread. No two builds have the same. */
  key: number;
  revisionId: number;
  /** Ends the build. */
  dropped: AbortController;
  figures: Promise<IndexFigures>;
  /** Whether the build has begun. */
  hasBegun: boolean;
  /** How many callers wait for the index. */
  waiting: number;
  /** 0 until it is built. */
  bytes: number;
}

interface IndexOptions {
  maxBytes: number;
  /** How long a prediction waits for its index. */
  timeoutMs: number;
  /** Undefined if the database is in the memory of this process, and read by `reader`. */
  databaseUrl: string | undefined;
  reader(signal: AbortSignal): Database;
}

export function createIndexes({ maxBytes, timeoutMs, databaseUrl, reader }: IndexOptions): Indexes {
  const entries = createEntries(maxBytes, (key) => thread?.send({ kind: "drop", key }));
  const stopping = new AbortController();
  let thread: IndexThread | undefined;
  let lastKey = 0;
  /** The current build; only one index is built at a time. */
  const turns = createFairSlots({ slots: 1 });
  const used = new Set<number>();

  function currentThread(): IndexThread {
    if (thread === undefined || thread.hasEnded()) {
      entries.clear();
      thread = startThread();
    }
    return thread;
  }

  function begin(name: string, source: ExampleSource): Entry {
    const key = ++lastKey;
    const dropped = new AbortController();
    const signal = AbortSignal.any([stopping.signal, dropped.signal]);
    const holder = currentThread();
    const refuseGone = async () => {
      const sealed = await selectSealed(reader(signal), [source.revisionId]);
      if (sealed.size === 0) throw examplesGone();
    };
    const build = async () => {
      const release = await turns.take(source.accountId, signal);
      entry.hasBegun = true;
      try {
        await refuseGone();
        const from = databaseUrl ?? (await readLines(reader(signal), source.revisionId, signal));
        // A revision that is deleted during the build is read only in part.
        const { built, figures } = await buildIndex(source, from, { maxBytes, signal }).finally(refuseGone);
        await holder.send({ kind: "hold", key, built });
        return figures;
      } finally {
        release();
      }
    };
    const figures = build();
    const state = { hasBegun: false, waiting: 0, bytes: 0 };
    const entry: Entry = { name, key, revisionId: source.revisionId, dropped, figures, ...state };
    figures.then(
      ({ bytes }) => {
        entry.bytes = bytes;
        entries.makeRoom(entry);
      },
      () => entries.drop(entry),
    );
    return entry;
  }

  function open(source: ExampleSource): Entry {
    currentThread();
    const name = JSON.stringify([source.revisionId, source.filter]);
    used.add(source.revisionId);
    return entries.use(name, () => begin(name, source));
  }

  /** Callers that get no answer in time ask again. An index that nobody waits for any more loses its place in the queue. */
  async function within(timeoutMs: number, entry: Entry, signal: AbortSignal | undefined) {
    const limits = { timeoutMs, timeoutError: notReady, signal };
    entry.waiting += 1;
    try {
      return await withDeadline(limits, (until) => orAborted(entry.figures, until));
    } finally {
      entry.waiting -= 1;
      if (signal?.aborted && entry.waiting === 0 && !entry.hasBegun) entries.drop(entry);
    }
  }

  const search = createSearch((searches) => currentThread().send({ kind: "find", searches }));
  return {
    describe: (source, signal) => within(maxWaitMs, open(source), signal),
    async find(source, { query, ...wanted }, signal) {
      const entry = open(source);
      const { key, figures, bytes } = entry;
      const built = bytes > 0 ? figures : within(timeoutMs, entry, signal).catch(refuseUnusable);
      const { filtered, digest, formerDigest } = await built;
      if (![digest, formerDigest, undefined].includes(source.digest)) throw examplesDiffer();
      const found = await search.find({ key, query, wanted });
      // The index was dropped meanwhile, or its thread has ended.
      if (found === null) throw notReady();
      return { ...found, filtered };
    },
    forget(revisionIds) {
      entries.forget(revisionIds);
      for (const id of revisionIds) used.delete(id);
      search.forget();
    },
    revisionIds: () => [...used],
    bytes: () => entries.bytes() + search.bytes(),
    async stop() {
      stopping.abort();
      await thread?.end();
    },
  };
}

/** Indexes that are searchable, or will be: up to `maxBytes`, without the least recently used. */
function createEntries(maxBytes: number, forgetKey: (key: number) => Promise<unknown> | undefined) {
  // The least recently used first.
  const entries = new Map<string, Entry>();

  function drop(entry: Entry): void {
    if (entries.get(entry.name) === entry) entries.delete(entry.name);
    entry.dropped.abort(notReady());
    const forget = () => forgetKey(entry.key);
    // If the thread has ended, there is nothing to forget.
    entry.figures.then(forget, forget).catch(() => {});
  }

  const heldBytes = () => [...entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);

  return {
    drop,
    bytes: heldBytes,
    use(name: string, begin: () => Entry): Entry {
      const entry = entries.get(name) ?? begin();
      entries.delete(name);
      entries.set(name, entry);
      return entry;
    },
    makeRoom(kept: Entry): void {
      let bytes = heldBytes();
      for (const entry of entries.values()) {
        if (bytes <= maxBytes) return;
        if (entry === kept || entry.bytes === 0) continue;
        bytes -= entry.bytes;
        drop(entry);
      }
    },
    /** Forgets the examples of revisions. */
    forget(revisionIds: readonly number[]): void {
      for (const entry of entries.values()) if (revisionIds.includes(entry.revisionId)) drop(entry);
    },
    /** Called when the thread that held the indexes has ended. */
    clear(): void {
      for (const { dropped } of entries.values()) dropped.abort(notReady());
      entries.clear();
    },
  };
}

/** Results are remembered up to about 16 MB, because a group of rollouts asks for the same step again and again. */
const maxRemembered = 16_000_000;
const bytesPerSearch = 500;
const bytesPerExample = 200;

/**
 * Makes each search once, as long as it is remembered: an index never changes, and its key is never reused. The key of a search is a
 * digest, so that no state stays in memory.
 */
function createSearch(send: (searches: string) => Promise<IndexReply>) {
  const search = searchTogether(send);
  const known = new LRUCache<string, Promise<Found>>({ maxSize: maxRemembered });
  return {
    async find(sought: Sought): Promise<Found> {
      // A digest of megabytes would delay other requests.
      const text = JSON.stringify({ ...sought, query: usedParts(sought.query) });
      const digest = new Bun.CryptoHasher("sha256").update(text).digest("base64");
      const remembered = known.get(digest);
      if (remembered !== undefined) return await remembered.then((found) => found && { ...found, ms: 0 });
      const searching = search(text);
      known.set(digest, searching, { size: bytesPerSearch + bytesPerExample * sought.wanted.k });
      const forget = () => known.delete(digest);
      searching.then((found) => {
        if (found === null) forget();
      }, forget);
      return await searching;
    },
    forget: () => known.clear(),
    bytes: () => known.calculatedSize,
  };
}

/** Sends all searches of one turn of the event loop in one message, as JSON. */
function searchTogether(send: (searches: string) => Promise<IndexReply>) {
  let searches: { sought: string; found: PromiseWithResolvers<Found> }[] = [];

  function sendAll(): void {
    const sent = searches;
    searches = [];
    send(`[${sent.map(({ sought }) => sought).join(",")}]`).then(
      (reply) => {
        const all = JSON.parse(reply as string) as Found[];
        for (const [index, { found }] of sent.entries()) found.resolve(all[index] ?? null);
      },
      (error: unknown) => {
        for (const { found } of sent) found.reject(error);
      },
    );
  }

  return (sought: string): Promise<Found> => {
    const found = Promise.withResolvers<Found>();
    searches.push({ sought, found });
    if (searches.length === 1) setImmediate(sendAll);
    return found.promise;
  };
}

type IndexThread = ThreadClient<IndexRequest, IndexReply>;

function startThread(): IndexThread {
  return threadClient(new Worker(new URL("./index-thread.ts", import.meta.url)));
}

async function readLines(reader: Database, revisionId: number, signal: AbortSignal): Promise<Lines> {
  return (await Array.fromAsync(readRevisionLines(reader, revisionId, signal))).flat();
}

/** Builds an index in a thread that ends when the build does. */
async function buildIndex(
  source: ExampleSource,
  from: string | Lines,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Built> {
  signal.throwIfAborted();
  const thread = startThread();
  const abandon = () => void thread.abandon(notReady());
  signal.addEventListener("abort", abandon);
  try {
    // The thread answers with what was asked for.
    const reply = await thread.send({ kind: "build", source, from, most: maxExamples });
    const built = reply as Built | undefined;
    if (built === undefined) throw tooMany(`more than ${maxExamples.toLocaleString("en")} samples`);
    const { bytes } = built.figures;
    if (bytes > maxBytes)
      throw tooMany(
        `${bytes} bytes once they are searchable, and ${maxBytes} are allowed (PRESAGE_INDEX_MAX_BYTES)`,
      );
    return built;
  } finally {
    signal.removeEventListener("abort", abandon);
    abandon();
  }
}

/** Refuses examples that are too many, although they fitted when the world was made. */
function refuseUnusable(error: unknown): never {
  if (error instanceof UnusableExamplesError) throw new ServiceError("conflict", `${error.message}.`);
  throw error;
}

const notReadyYet = "The world's examples are not searchable yet.";

function notReady(): ServiceError {
  return new ServiceError("overloaded", notReadyYet, { retryAfterS });
}

/** Whether it is worth waiting for an index. */
export function isNotReady(error: unknown): boolean {
  return error instanceof ServiceError && error.message === notReadyYet;
}

function tooMany(what: string): UnusableExamplesError {
  return new UnusableExamplesError(
    `The examples have ${what}. Choose fewer with split, tags or max_per_trajectory`,
  );
}
