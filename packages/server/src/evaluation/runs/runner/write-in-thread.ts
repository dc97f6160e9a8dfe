import { Worker } from "node:worker_threads";
import { writerData } from "../../../storage/sqlite/write-turn.ts";
import { smallHeap } from "../../../storage/threads/small-heap.ts";
import { writerThread } from "../../../storage/threads/thread-requests.ts";
import type { WriteWork } from "./work-writer.ts";

/** Writes the work of runs into an SQLite file on a thread of its own, so that only that thread waits for the disk. */
export function writeWorkInThread(sqlitePath: string): { write: WriteWork; end(): Promise<void> } {
  const thread = writerThread<string, boolean>(
    (isReplacement) =>
      new Worker(
        new URL("./work-thread.ts", import.meta.url),
        smallHeap(writerData(sqlitePath, isReplacement)),
      ),
  );
  return { write: (work) => thread.send(JSON.stringify(work)), end: thread.end };
}
