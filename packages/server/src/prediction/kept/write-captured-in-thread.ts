import { Worker } from "node:worker_threads";
import { type ThreadClient, threadClient } from "../../storage/thread-requests.ts";
import type { CapturedRows } from "./captured-rows.ts";

export type WriteCaptured = (rows: CapturedRows) => Promise<void>;

/** Writes rows into an SQLite file on a thread of its own, which starts with the first write and is replaced if it dies. */
export function writeCapturedInThread(sqlitePath: string): { write: WriteCaptured; end(): Promise<void> } {
  let thread: ThreadClient<string, undefined> | undefined;
  return {
    async write(rows) {
      if (thread === undefined || thread.hasEnded())
        thread = threadClient(
          new Worker(new URL("./captured-thread.ts", import.meta.url), { workerData: sqlitePath }),
        );
      // Copying objects to a thread takes five times as long as writing them as JSON.
      await thread.send(JSON.stringify(rows));
    },
    async end() {
      await thread?.end();
    },
  };
}
