import { Worker } from "node:worker_threads";
import type { WriterData } from "../platform/storage/sqlite-turns.ts";
import { writerThread } from "../platform/storage/thread.ts";
import { toText, type WriteResults, type Written } from "../results/write/write-results.ts";

export function startResultsWorker(workerData: WriterData): Worker {
  return new Worker(new URL("./results-thread.ts", import.meta.url), { workerData });
}

/** Writes results into an SQLite file on a thread of its own. */
export function writeInThread(
  sqlitePath: string,
  startWorker = startResultsWorker,
): { write: WriteResults; end(): Promise<void> } {
  const thread = writerThread<string, Written>(sqlitePath, startWorker);
  // Copying objects to a thread takes five times as long as writing them as JSON.
  return { write: (records) => thread.send(toText(records)), end: thread.end };
}
