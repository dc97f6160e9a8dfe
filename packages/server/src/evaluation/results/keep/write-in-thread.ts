import { Worker } from "node:worker_threads";
import { writerData } from "../../../storage/sqlite/write-turn.ts";
import { writerThread } from "../../../storage/threads/thread-requests.ts";
import { toText } from "./records-as-text.ts";
import type { WriteResults, Written } from "./write-results.ts";

export function startResultsWorker(sqlitePath: string, isReplacement = false): Worker {
  const workerData = writerData(sqlitePath, isReplacement);
  return new Worker(new URL("./results-thread.ts", import.meta.url), { workerData });
}

/** Writes results into an SQLite file on a thread of its own, which starts with the first write and is replaced if it dies. */
export function writeInThread(
  sqlitePath: string,
  startWorker: (sqlitePath: string, isReplacement: boolean) => Worker = startResultsWorker,
): { write: WriteResults; end(): Promise<void> } {
  const thread = writerThread<string, Written>((isReplacement) => startWorker(sqlitePath, isReplacement));
  // Copying objects to a thread takes five times as long as writing them as JSON.
  return { write: (records) => thread.send(toText(records)), end: thread.end };
}
