import { ServiceError } from "../../../errors.ts";
import { isStoreUnavailable, storeUnavailable } from "../../../storage/store-failure.ts";
import { charactersOf } from "../../sample.ts";
import type { EvaluationRecord, StoredResult } from "../record/evaluation-record.ts";
import { numberResults, type WriteResults } from "./write-results.ts";

/** The most results of one transaction, so that nobody waits long for another's. */
const maxResultsAtOnce = 500;
/** The most bytes, as all of it is in memory several times on its way to the store. One call may have more. */
const maxBytesAtOnce = 8_000_000;
/** Results that wait for their commit; past it the store is too slow for what is asked. */
const maxWaiting = 20_000;

export interface ResultsKeeper {
  /**
   * Returns once the results are on disk. Those of one call are kept together or not at all. In the place of one whose request key
   * another has, that other one is returned, which is on disk as well.
   */
  keep(records: readonly EvaluationRecord[]): Promise<StoredResult[]>;
}

interface Waiting {
  records: readonly EvaluationRecord[];
  bytes: number;
  kept: PromiseWithResolvers<StoredResult[]>;
}

/** Keeps results so that many calls share one commit: while one is under way, the next one gathers. */
export function createResultsKeeper(write: WriteResults): ResultsKeeper {
  let waiting: Waiting[] = [];
  let waitingResults = 0;
  let isWriting = false;

  async function writeWaiting(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    // Those who come in the same turn of the event loop go along.
    await Promise.resolve();
    while (waiting.length > 0) await writeOrSplit(takeBatch());
    isWriting = false;
  }

  function takeBatch(): Waiting[] {
    let results = 0;
    let bytes = 0;
    const size = waiting.findIndex((one) => {
      results += one.records.length;
      bytes += one.bytes;
      return results > maxResultsAtOnce || bytes > maxBytesAtOnce;
    });
    const batch = size < 0 ? waiting : waiting.slice(0, Math.max(size, 1));
    waiting = waiting.slice(batch.length);
    for (const { records } of batch) waitingResults -= records.length;
    return batch;
  }

  /**
   * A batch that the store refuses is tried call by call, so that nobody fails for another's fault. If the store is not
   * available, whoever waits is refused at once, and not in turns; then this returns why.
   */
  async function writeOrSplit(batch: readonly Waiting[]): Promise<unknown> {
    try {
      const records = batch.flatMap((one) => one.records);
      const kept = numberResults(records, await write(records));
      let at = 0;
      for (const { records, kept: answer } of batch) {
        answer.resolve(kept.slice(at, at + records.length));
        at += records.length;
      }
    } catch (error) {
      if (isStoreUnavailable(error)) {
        refuse(batch, error);
        refuse(waiting, storeUnavailable(error));
        waiting = [];
        waitingResults = 0;
        return error;
      }
      // With no connection to be had, call by call would be to wait for one each time.
      if (batch.length === 1 || isOverloaded(error)) {
        refuse(batch, error);
        return undefined;
      }
      for (const one of batch) {
        const outage = await writeOrSplit([one]);
        if (outage === undefined) continue;
        // Those that have their answer keep it.
        refuse(batch, storeUnavailable(outage));
        return outage;
      }
    }
    return undefined;
  }

  return {
    async keep(records) {
      if (records.length === 0) return [];
      if (waitingResults + records.length > maxWaiting) {
        throw new ServiceError("overloaded", "Too many results wait to be stored.", { retryAfterS: 1 });
      }
      const bytes = records.reduce((sum, record) => sum + bytesOf(record), 0);
      const kept = Promise.withResolvers<StoredResult[]>();
      waiting.push({ records, bytes, kept });
      waitingResults += records.length;
      void writeWaiting();
      return await kept.promise;
    },
  };
}

function isOverloaded(error: unknown): boolean {
  return error instanceof ServiceError && error.code === "overloaded";
}

function refuse(calls: readonly Waiting[], reason: unknown): void {
  for (const { kept } of calls) kept.reject(reason);
}

/** What a result takes while it is written, about: its texts are written into a statement or for a thread. */
function bytesOf({ sample, outcome }: EvaluationRecord): number {
  return 2 * (charactersOf(sample) + (outcome.explanation?.length ?? 0)) + 1_000;
}
