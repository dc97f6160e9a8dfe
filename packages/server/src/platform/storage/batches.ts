import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./schema/tables.ts";
import { isPostgres } from "./store.ts";

/**
 * Passes items that are added at the same time to one call of `work`: while a call is in progress, the next items are collected. Each
 * item gets its own part of what the call returned.
 */
export function doTogether<Item, Result>(
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let waiting: { item: Item; done: PromiseWithResolvers<Result> }[] = [];
  let isWorking = false;

  async function workOnWaiting(): Promise<void> {
    if (isWorking) return;
    isWorking = true;
    while (waiting.length > 0) {
      // Requests that have arrived are read first, and their items join the batch.
      await nextTurn();
      const batch = waiting;
      waiting = [];
      try {
        const results = await work(batch.map(({ item }) => item));
        // One result for each item.
        for (const [index, { done }] of batch.entries()) done.resolve(results[index] as Result);
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    isWorking = false;
  }

  return async (item) => {
    const done = Promise.withResolvers<Result>();
    waiting.push({ item, done });
    void workOnWaiting();
    return await done.promise;
  };
}

export const usualIntervalMs = 5_000;

export interface Batching<Value> {
  /** Absent: five seconds. */
  intervalMs?: number | undefined;
  /** If it throws, entries that it has removed from the batch are not written again. */
  write(batch: Map<string, Value>): Promise<void>;
  /** Called at each interval, even if there was nothing to write. No batch is written meanwhile. */
  afterwards?: (() => Promise<void>) | undefined;
  /** Returns an unwritten batch to the entries collected meanwhile. Absent: for each key, the newer value counts. */
  putBack?(batch: ReadonlyMap<string, Value>, pending: Map<string, Value>): void;
  /** `isFirst` if the previous batch was written. */
  onFailure(error: unknown, isFirst: boolean): void;
}

/** Writes what is pending every few seconds, one batch after the other. */
export function writeInBatches<Value>({
  intervalMs = usualIntervalMs,
  write,
  afterwards,
  putBack = (batch, newer) => {
    for (const [name, value] of batch) if (!newer.has(name)) newer.set(name, value);
  },
  onFailure,
}: Batching<Value>) {
  let pending = new Map<string, Value>();
  let writing: Promise<void> = Promise.resolve();
  /** The write that waits for the one before it. */
  let next: Promise<void> | undefined;
  let isFailing = false;

  async function writePending(): Promise<void> {
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    try {
      await write(batch);
      isFailing = false;
    } catch (error) {
      onFailure(error, !isFailing);
      isFailing = true;
      putBack(batch, pending);
    }
  }

  function writeNow(): Promise<void> {
    // Otherwise attempts would queue while the store is unavailable, and a stop would wait for all of them.
    if (next !== undefined) return writing;
    next = writing.then(() => {
      next = undefined;
      return writePending();
    });
    writing = next.then(afterwards);
    return writing;
  }

  const timer = setInterval(writeNow, intervalMs);
  return {
    /** The map that collects the next batch. To be called again for each change, as every batch has its own map. */
    pending: (): Map<string, Value> => pending,
    writeNow,
    /** Writes what is pending and stops. */
    async stop(): Promise<void> {
      clearInterval(timer);
      await writeNow();
    },
  };
}

interface Pace {
  targetMs: number;
  /** If even few rows take longer than this, the next batch has fewer. */
  mostMs: number;
  leastRows: number;
  /** Whether batches never have fewer than `leastRows`: where round trips take the time, fewer rows are no faster. */
  keepsLeast: boolean;
  minPauseMs: number;
  /** The least length of a pause, as a multiple of the transaction before it. */
  pausePerHeld: number;
}

/**
 * SQLite has one writer at a time: another write may wait for as long as a batch takes. Pauses are longer than those of other processes
 * between two attempts to write.
 */
const paceOnSqlite: Pace = {
  targetMs: 4,
  mostMs: 20,
  leastRows: 15,
  keepsLeast: false,
  minPauseMs: 12,
  pausePerHeld: 1.5,
};
/** Others can write meanwhile, and most of the time goes into round trips. */
const paceOnPostgres: Pace = {
  targetMs: 8,
  mostMs: 25,
  leastRows: 40,
  keepsLeast: true,
  minPauseMs: 12,
  pausePerHeld: 2,
};
const firstRows = 20;
const maxRows = 2_000;
/** A batch has at most this many times the rows of the one before: the time that rows take varies a lot. */
const maxGrowth = 1.5;

/** What one small transaction of a long deletion did. */
export interface DeletedBatch<Place> {
  deleted: number;
  /** The size that is compared with `limit`; absent: the number of rows. */
  size?: number;
  /** How long the transaction kept others from writing. */
  heldMs: number;
  /** Where the next transaction begins; undefined if nothing is left. */
  next: Place | undefined;
}

/** Deletes at most `limit` rows from a place on; at first from the start. */
type DeleteSome<Place> = (place: Place | undefined, limit: number) => Promise<DeletedBatch<Place>>;

/** Deletes in transactions of a few milliseconds, sized by how long the last one took, with pauses between them. */
export async function deleteInBatches<Place>(
  database: Database,
  deleteSome: DeleteSome<Place>,
  { signal, onDeleted }: { signal: AbortSignal; onDeleted?: (rows: number, heldMs: number) => void },
): Promise<number> {
  const pace = isPostgres(database) ? paceOnPostgres : paceOnSqlite;
  let place: Place | undefined;
  let rows = firstRows;
  let deleted = 0;
  while (!signal.aborted) {
    const batch = await deleteSome(place, rows);
    deleted += batch.deleted;
    if (batch.deleted > 0) onDeleted?.(batch.deleted, batch.heldMs);
    if (batch.next === undefined) break;
    place = batch.next;
    // Merely looking for rows blocks no one.
    if (batch.heldMs === 0) continue;
    if (batch.deleted > 0) rows = nextRows(batch, pace);
    const pauseMs = Math.max(pace.minPauseMs, pace.pausePerHeld * batch.heldMs);
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  }
  return deleted;
}

function nextRows(
  { deleted, size = deleted, heldMs }: DeletedBatch<unknown>,
  { targetMs, mostMs, leastRows, keepsLeast }: Pace,
): number {
  // Much of a small transaction's time goes into the commit.
  const least = Math.min(leastRows, Math.ceil(size * maxGrowth));
  if (heldMs > mostMs) return Math.max(Math.floor(size / 2), keepsLeast ? least : 1);
  const growth = Math.min(Math.max(targetMs / heldMs, 0.5), maxGrowth);
  return Math.min(Math.max(Math.floor(size * growth), least), maxRows);
}

/** Runs a transaction, and measures how long it kept others from writing. `lock` waits for others first. */
export async function inTimedTransaction<Result>(
  database: Database,
  work: (transaction: Database) => Promise<Result>,
  lock: (transaction: Database) => Promise<void> = async () => {},
): Promise<{ result: Result; heldMs: number }> {
  let startedAtMs = performance.now();
  const result = await database.transaction().execute(async (transaction) => {
    await lock(transaction);
    // Until now, the lock waited for others.
    startedAtMs = performance.now();
    return await work(transaction);
  });
  return { result, heldMs: performance.now() - startedAtMs };
}

const written = {
  /** How long a batch should hold the writer. */
  targetMs: 20,
  mostRows: 8_000,
  leastRows: 100,
  /** This many are written within milliseconds on any disk. */
  firstRows: 200,
};
/** Longer than other writers pause between two attempts to write an SQLite file. */
export const pauseMs = 12;

/** The pace of batches that are written or deleted one after the other. */
export function createWritePace(database: Database) {
  let maxRows = written.firstRows;
  let wroteAtMs = Number.NEGATIVE_INFINITY;
  return {
    /** How many rows the next batch may have. */
    maxRows: () => maxRows,
    async write(rows: number, work: () => Promise<void>): Promise<void> {
      // Leaves time to other writers on SQLite. Time spent reading since the last batch counts as waiting.
      const leftMs = wroteAtMs + pauseMs - performance.now();
      if (leftMs > 0 && !isPostgres(database)) await sleep(leftMs);
      const startedAtMs = performance.now();
      await work();
      wroteAtMs = performance.now();
      maxRows = nextWritten(maxRows, rows, wroteAtMs - startedAtMs);
    },
  };
}

function nextWritten(allowed: number, rows: number, tookMs: number): number {
  const { targetMs, mostRows, leastRows } = written;
  // A batch that was full of bytes says little about rows, and one that waited for another writer says nothing.
  const wanted =
    tookMs > targetMs ? Math.max(allowed / 2, (rows * targetMs) / tookMs) : Math.max(allowed, rows * 1.5);
  return Math.max(leastRows, Math.min(mostRows, Math.floor(wanted)));
}
