import { Worker } from "node:worker_threads";
import { isStoreUncertain, storeUncertain } from "../../../storage/store-error.ts";
import { type ThreadClient, threadClient } from "../../../storage/thread-requests.ts";
import { toText } from "./records-as-text.ts";
import type { WriteResults, Written } from "./write-results.ts";

export function startResultsWorker(sqlitePath: string): Worker {
  return new Worker(new URL("./results-thread.ts", import.meta.url), { workerData: sqlitePath });
}

/** Writes results into an SQLite file on a thread of its own, which starts with the first write and is replaced if it dies. */
export function writeInThread(
  sqlitePath: string,
  startWorker: (sqlitePath: string) => Worker = startResultsWorker,
): { write: WriteResults; end(): Promise<void> } {
  let thread: ThreadClient<string, Written> | undefined;
  return {
    async write(records) {
      if (thread === undefined || thread.hasEnded()) thread = threadClient(startWorker(sqlitePath));
      const current = thread;
      // Copying objects to a thread takes five times as long as writing them as JSON.
      return await current.send(toText(records)).catch((error: unknown) => {
        // A thread that dies may already have committed.
        throw current.hasEnded() || isStoreUncertain(error) ? storeUncertain(error) : error;
      });
    },
    async end() {
      await thread?.end();
    },
  };
}
