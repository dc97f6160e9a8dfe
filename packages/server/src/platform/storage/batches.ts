import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Hands items that are added at the same time to one call of `work`: while one is in progress, the next items are collected. Each
 * item gets its own part of what the call returned, once that is done.
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
        // One for each item.
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

interface BatchedWrites<Value> {
  /** What is collected for the next batch. To be called again for each change: every batch has its own map. */
  pending(): Map<string, Value>;
  writeNow(): Promise<void>;
  /** Writes what is pending and stops. */
  stop(): Promise<void>;
}

interface Batching<Value> {
  /** Absent: five seconds. */
  intervalMs?: number | undefined;
  write(batch: ReadonlyMap<string, Value>): Promise<void>;
  /** Returns what could not be written to what was collected meanwhile. */
  putBack(batch: ReadonlyMap<string, Value>, pending: Map<string, Value>): void;
  /** `isFirst`: the previous batch was written. */
  onFailure(error: unknown, isFirst: boolean): void;
}

/** Writes what is pending every few seconds, one batch after the other. */
export function writeInBatches<Value>({
  intervalMs = usualIntervalMs,
  write,
  putBack,
  onFailure,
}: Batching<Value>): BatchedWrites<Value> {
  let pending = new Map<string, Value>();
  let writing: Promise<void> = Promise.resolve();
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
    writing = writing.then(writePending);
    return writing;
  }

  const timer = setInterval(writeNow, intervalMs);
  return {
    pending: () => pending,
    writeNow,
    async stop() {
      clearInterval(timer);
      await writeNow();
    },
  };
}
