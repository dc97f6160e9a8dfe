import { Worker } from "node:worker_threads";
import { writerData } from "../../storage/sqlite/write-turn.ts";
import { writerThread } from "../../storage/threads/thread-requests.ts";
import type { EpisodeWrite } from "./apply-writes.ts";

/** Makes changes together. Says of each whether it was made. */
type Write = (writes: readonly EpisodeWrite[]) => Promise<boolean[]>;

/** Writes into an SQLite file on a thread of its own, so that only that thread waits for the disk. */
export function writeInThread(sqlitePath: string): { write: Write; end(): Promise<void> } {
  const thread = writerThread<string, boolean[]>(
    (isReplacement) =>
      new Worker(new URL("./writer-thread.ts", import.meta.url), {
        workerData: writerData(sqlitePath, isReplacement),
      }),
  );
  return { write: (writes) => thread.send(JSON.stringify(writes)), end: thread.end };
}
