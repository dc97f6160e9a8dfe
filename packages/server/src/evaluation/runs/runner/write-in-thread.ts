import { Worker } from "node:worker_threads";
import { type ThreadClient, threadClient } from "../../../storage/thread-requests.ts";
import type { WriteWork } from "./work-writer.ts";

/** Writes the work of runs into an SQLite file on a thread of its own, so that only that thread waits for the disk. */
export function writeWorkInThread(sqlitePath: string): { write: WriteWork; end(): Promise<void> } {
  let thread: ThreadClient<string, boolean> | undefined;
  return {
    async write(work) {
      if (thread === undefined || thread.hasEnded())
        thread = threadClient(
          new Worker(new URL("./work-thread.ts", import.meta.url), { workerData: sqlitePath }),
        );
      return await thread.send(JSON.stringify(work));
    },
    async end() {
      await thread?.end();
    },
  };
}
