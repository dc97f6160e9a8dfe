import { Worker } from "node:worker_threads";
import { smallHeap, writerThread } from "../platform/storage/thread.ts";
import type { WriteWork } from "../runs/runner/evaluate-step.ts";

/** Writes the work of runs into an SQLite file on a thread of its own. */
export function writeWorkInThread(sqlitePath: string): { write: WriteWork; end(): Promise<void> } {
  const thread = writerThread<string, boolean>(
    sqlitePath,
    (workerData) => new Worker(new URL("./work-thread.ts", import.meta.url), smallHeap(workerData)),
  );
  return { write: (work) => thread.send(JSON.stringify(work)), end: thread.end };
}
