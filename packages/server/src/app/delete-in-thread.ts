import { Worker } from "node:worker_threads";
import type { DeletedBatch } from "../platform/storage/delete-in-batches.ts";
import { smallHeap, writerThread } from "../platform/storage/thread.ts";
import type { DeletionStep, Place } from "./deletions.ts";

/** Deletes from an SQLite file on a thread of its own. */
export function deleteInThread(sqlitePath: string) {
  return writerThread<DeletionStep, DeletedBatch<Place>>(
    sqlitePath,
    (workerData) => new Worker(new URL("./deletion-thread.ts", import.meta.url), smallHeap(workerData)),
  );
}
