import type { Worker } from "node:worker_threads";
import { isStoreUncertain, storeUncertain } from "../store-error.ts";
import { type ThreadClient, threadClient } from "../threads/thread-requests.ts";
import { type WriterData, writerData } from "./write-turn.ts";

/**
 * Sends requests to a thread that writes into the SQLite file at `path`, so that only that thread waits for the disk. It starts with the
 * first request and is replaced if it dies.
 */
export function writerThread<Request, Result>(
  path: string,
  start: (workerData: WriterData) => Worker,
): Pick<ThreadClient<Request, Result>, "send" | "end"> {
  let thread: ThreadClient<Request, Result> | undefined;
  return {
    async send(request) {
      if (thread === undefined || thread.hasEnded())
        thread = threadClient(start(writerData(path, thread !== undefined)));
      const current = thread;
      return await current.send(request).catch((error: unknown) => {
        // A thread that dies may already have committed.
        throw current.hasEnded() || isStoreUncertain(error) ? storeUncertain(error) : error;
      });
    },
    async end() {
      // A later request starts another one.
      const ending = thread;
      thread = undefined;
      await ending?.end();
    },
  };
}
