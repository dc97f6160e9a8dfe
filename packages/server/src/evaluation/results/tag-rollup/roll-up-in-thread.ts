import { Worker } from "node:worker_threads";
import { type ThreadClient, threadClient } from "../../../storage/thread-requests.ts";

/** Counts results of an SQLite file by tag on a thread of its own, which starts with the first call and is replaced if it dies. */
export function rollUpInThread(sqlitePath: string): { rollUpSome(): Promise<boolean>; end(): Promise<void> } {
  let thread: ThreadClient<"roll up", boolean> | undefined;
  return {
    async rollUpSome() {
      if (thread === undefined || thread.hasEnded()) thread = threadClient(startWorker(sqlitePath));
      return await thread.send("roll up");
    },
    async end() {
      await thread?.end();
    },
  };
}

function startWorker(sqlitePath: string): Worker {
  return new Worker(new URL("./roll-up-thread.ts", import.meta.url), { workerData: sqlitePath });
}
