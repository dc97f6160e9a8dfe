import { Worker } from "node:worker_threads";
import { writerData } from "../../storage/sqlite/write-turn.ts";
import { writerThread } from "../../storage/threads/thread-requests.ts";
import type { CapturedRows } from "./captured-rows.ts";

export type WriteCaptured = (rows: CapturedRows) => Promise<void>;

/** Writes rows into an SQLite file on a thread of its own, so that only that thread waits for the disk. */
export function writeCapturedInThread(sqlitePath: string): { write: WriteCaptured; end(): Promise<void> } {
  const thread = writerThread<string, undefined>(
    (isReplacement) =>
      new Worker(new URL("./captured-thread.ts", import.meta.url), {
        workerData: writerData(sqlitePath, isReplacement),
      }),
  );
  // Copying objects to a thread takes five times as long as writing them as JSON.
  return { write: (rows) => thread.send(JSON.stringify(rows)), end: thread.end };
}
