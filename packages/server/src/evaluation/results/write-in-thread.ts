import { Worker } from "node:worker_threads";
import { type ThreadClient, threadClient } from "../../storage/thread-client.ts";
import type { WriteResults, Written } from "./write-results.ts";

/** Writes results into an SQLite file on a thread of its own. It starts with the first of them, and anew after it died. */
export function writeInThread(sqlitePath: string): { write: WriteResults; end(): Promise<void> } {
  let thread: ThreadClient<string, Written> | undefined;
  return {
    async write(records) {
      if (thread === undefined || thread.hasEnded()) {
        const worker = new Worker(new URL("./results-thread.ts", import.meta.url), {
          workerData: sqlitePath,
        });
        thread = threadClient(worker);
      }
      // Copying objects to a thread takes five times as long as writing them as JSON.
      return await thread.ask(JSON.stringify(records));
    },
    async end() {
      await thread?.end();
    },
  };
}
