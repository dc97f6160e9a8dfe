import { Worker } from "node:worker_threads";
import type { WriterData } from "../platform/storage/sqlite-turns.ts";
import { smallHeap, type Writer, writerThread } from "../platform/storage/thread.ts";
import type { BackgroundWrites, LiveWrites, WriterRole } from "./writer-thread.ts";

/** The threads that write into an SQLite file. Two, so that nothing live waits while something is deleted or counted. */
export interface Writers {
  /** What is sent is on disk when it has been written. */
  live: Writer<LiveWrites>;
  /** What is sent is repeated if a power failure undoes it. */
  background: Writer<BackgroundWrites>;
  end(): Promise<void>;
}

/** An idle thread keeps 10 MB. Longer than between two counts by tag while results arrive. */
const idleMs = 5_000;

/** Threads start with the first write. */
export function startWriters(sqlitePath: string, startWorker = startWriterWorker): Writers {
  const start = (role: WriterRole) => (data: WriterData) => startWorker(role, data);
  const live = writerThread<LiveWrites>(sqlitePath, start("live"));
  const background = writerThread<BackgroundWrites>(sqlitePath, start("background"), idleMs);
  return {
    live,
    background,
    async end() {
      // One after the other: the last SQLite connection to close removes the log, and of several at once none would be the last.
      await background.end();
      await live.end();
    },
  };
}

export function startWriterWorker(role: WriterRole, data: WriterData): Worker {
  return new Worker(new URL("./writer-thread.ts", import.meta.url), smallHeap({ role, ...data }));
}
