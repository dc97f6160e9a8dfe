import { Worker } from "node:worker_threads";
import { writerData } from "../../storage/sqlite/write-turn.ts";
import { writerThread } from "../../storage/threads/thread-requests.ts";
import type { NewStep } from "./episodes-store.ts";

/** Stores steps together. Says of each whether it was stored. */
type WriteSteps = (steps: readonly NewStep[]) => Promise<boolean[]>;

/** Writes steps into an SQLite file on a thread of its own, so that only that thread waits for the disk. */
export function writeStepsInThread(sqlitePath: string): { write: WriteSteps; end(): Promise<void> } {
  const thread = writerThread<string, boolean[]>(
    () => new Worker(new URL("./step-thread.ts", import.meta.url), { workerData: writerData(sqlitePath) }),
  );
  return { write: (steps) => thread.send(JSON.stringify(steps)), end: thread.end };
}
