import { Worker } from "node:worker_threads";
import { smallHeap, writerThread } from "../platform/storage/thread.ts";

/** Counts results of an SQLite file by tag on a thread of its own. */
export function rollUpInThread(sqlitePath: string): { rollUpSome(): Promise<boolean>; end(): Promise<void> } {
  const thread = writerThread<"roll up", boolean>(
    sqlitePath,
    (workerData) => new Worker(new URL("./roll-up-thread.ts", import.meta.url), smallHeap(workerData)),
  );
  return { rollUpSome: () => thread.send("roll up"), end: thread.end };
}
