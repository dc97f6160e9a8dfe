import { Worker } from "node:worker_threads";
import { type ThreadClient, threadClient } from "../../storage/thread-requests.ts";
import type { WriteSteps } from "./step-writer.ts";

/** Writes steps into an SQLite file on a thread of its own, which starts with the first write and is replaced if it dies. */
export function writeStepsInThread(sqlitePath: string): { write: WriteSteps; end(): Promise<void> } {
  let thread: ThreadClient<string, boolean[]> | undefined;
  return {
    async write(steps) {
      if (thread === undefined || thread.hasEnded())
        thread = threadClient(
          new Worker(new URL("./step-thread.ts", import.meta.url), { workerData: sqlitePath }),
        );
      return await thread.send(JSON.stringify(steps));
    },
    async end() {
      await thread?.end();
    },
  };
}
