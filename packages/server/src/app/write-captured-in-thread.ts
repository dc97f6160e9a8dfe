import { Worker } from "node:worker_threads";
import { writerThread } from "../platform/storage/thread.ts";
import type { CapturedRows } from "../predictions/captured-rows.ts";

export type WriteCaptured = (rows: CapturedRows) => Promise<void>;

/** Writes rows into an SQLite file on a thread of its own. */
export function writeCapturedInThread(sqlitePath: string): { write: WriteCaptured; end(): Promise<void> } {
  const thread = writerThread<string, void>(
    sqlitePath,
    (workerData) => new Worker(new URL("./captured-thread.ts", import.meta.url), { workerData }),
  );
  // Copying objects to a thread takes five times as long as writing them as JSON.
  return { write: (rows) => thread.send(JSON.stringify(rows)), end: thread.end };
}
