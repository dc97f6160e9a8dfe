import { Worker } from "node:worker_threads";
import { smallHeap } from "../../storage/threads/small-heap.ts";
import { writerThread } from "../../storage/threads/thread-requests.ts";
import type { DeletedBatch } from "../../storage/writing/delete-in-batches.ts";
import type { DeletionStep, Place } from "./deletion-step.ts";

/** Deletes from an SQLite file on a thread of its own. */
export function deleteInThread(sqlitePath: string) {
  return writerThread<DeletionStep, DeletedBatch<Place>>(
    sqlitePath,
    (workerData) => new Worker(new URL("./deletion-thread.ts", import.meta.url), smallHeap(workerData)),
  );
}
