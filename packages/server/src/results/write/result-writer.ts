import { setImmediate as nextTurn } from "node:timers/promises";
import { charactersOf } from "../../evaluators/outcome.ts";
import { isOverloaded, ServiceError } from "../../platform/errors.ts";
import { isDeadlock, isStoreUnavailable, storeUnavailable } from "../../platform/storage/store-error.ts";
import type { EvaluationRecord, StoredResult } from "../result.ts";
import { numberResults, type WriteResults } from "./write-results.ts";

/** The most results of one transaction, so that no call waits long for another's. */
const maxBatchResults = 500;
/** The most bytes of one transaction: copying them to a thread takes milliseconds of the main one. A single call may exceed it. */
const maxBatchBytes = 2_000_000;
/** The most results that wait for their commit; beyond it, the store is too slow for the load. */
const maxWaiting = 20_000;

export type ResultWriter = ReturnType<typeof createResultWriter>;

interface WaitingCall {
  records: readonly EvaluationRecord[];
  bytes: number;
  stored: PromiseWithResolvers<StoredResult[]>;
}

/** Batches calls so that many share one commit: while one batch is written, the next one collects. */
export function createResultWriter(write: WriteResults) {
  let waiting: WaitingCall[] = [];
  let waitingResults = 0;
  let isWriting = false;

  async function writeWaiting(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    // Requests that have arrived are read first, and join the batch.
    await nextTurn();
    while (waiting.length > 0) {
      const writing = writeOrSplit(takeBatch());
      // A store in memory writes on this thread: however much is waiting, requests are served in between.
      await nextTurn();
      await writing;
    }
    isWriting = false;
  }

  function takeBatch(): WaitingCall[] {
    let results = 0;
    let bytes = 0;
    const size = waiting.findIndex((call) => {
      results += call.records.length;
      bytes += call.bytes;
      return results > maxBatchResults || bytes > maxBatchBytes;
    });
    const batch = size < 0 ? waiting : waiting.slice(0, Math.max(size, 1));
    waiting = waiting.slice(batch.length);
    for (const { records } of batch) waitingResults -= records.length;
    return batch;
  }

  /**
   * A batch that the store rejects, or undoes for another transaction, is retried call by call, so that no call fails because of
   * another's records. If the store is unavailable, all waiting calls fail immediately, not one by one, and the error is returned.
   */
  async function writeOrSplit(batch: readonly WaitingCall[]): Promise<unknown> {
    try {
      const records = batch.flatMap((call) => call.records);
      const written = await write(records);
      // First the next batch goes to the store: making the responses takes about as long as storing the results.
      setImmediate(resolveAll, batch, numberResults(records, written));
    } catch (error) {
      if (isStoreUnavailable(error) && !isDeadlock(error)) {
        rejectAll(batch, error);
        rejectAll(waiting, storeUnavailable(error));
        waiting = [];
        waitingResults = 0;
        return error;
      }
      // Without a free connection, every single call would wait for one in turn.
      if (batch.length === 1 || isOverloaded(error)) {
        rejectAll(batch, error);
        return undefined;
      }
      for (const [index, call] of batch.entries()) {
        const outage = await writeOrSplit([call]);
        if (outage === undefined) continue;
        rejectAll(batch.slice(index + 1), storeUnavailable(outage));
        return outage;
      }
    }
    return undefined;
  }

  return {
    /**
     * Returns once the results are on disk. Those of one call are stored together or not at all. If another result already has a
     * record's request key, that result, which is on disk too, is returned in its place.
     */
    async write(records: readonly EvaluationRecord[]): Promise<StoredResult[]> {
      if (records.length === 0) return [];
      if (waitingResults + records.length > maxWaiting) {
        throw new ServiceError("overloaded", "Too many results are waiting to be stored. Try again later.", {
          retryAfterS: 1,
        });
      }
      const bytes = records.reduce((sum, record) => sum + bytesOf(record), 0);
      const stored = Promise.withResolvers<StoredResult[]>();
      waiting.push({ records, bytes, stored });
      waitingResults += records.length;
      void writeWaiting();
      return await stored.promise;
    },
  };
}

/** Resolves each call with its part of the results. */
function resolveAll(calls: readonly WaitingCall[], results: readonly StoredResult[]): void {
  let start = 0;
  for (const { records, stored } of calls) {
    stored.resolve(results.slice(start, start + records.length));
    start += records.length;
  }
}

function rejectAll(calls: readonly WaitingCall[], reason: unknown): void {
  for (const { stored } of calls) stored.reject(reason);
}

/** Approximate size of a result while it is written: its texts are copied into a statement or for a thread. */
function bytesOf({ sample, outcome }: EvaluationRecord): number {
  return 2 * (charactersOf(sample) + (outcome.explanation?.length ?? 0)) + 1_000;
}
