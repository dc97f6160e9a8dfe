import { Worker } from "node:worker_threads";
import type { EpisodeWrite } from "../environments/episodes/new-steps-store.ts";
import { writerThread } from "../platform/storage/thread.ts";

/** Makes changes together. Says of each whether it was made. */
type Write = (writes: readonly EpisodeWrite[]) => Promise<boolean[]>;

/** Writes into an SQLite file on a thread of its own. */
export function writeInThread(sqlitePath: string): { write: Write; end(): Promise<void> } {
  const thread = writerThread<string, boolean[]>(
    sqlitePath,
    (workerData) => new Worker(new URL("./episodes-thread.ts", import.meta.url), { workerData }),
  );
  return { write: (writes) => thread.send(JSON.stringify(writes)), end: thread.end };
}
