import { Worker } from "node:worker_threads";

/** A thread that reads the SQLite file at `path`. */
export function startSqliteWorker(path: string): Worker {
  return new Worker(new URL("./sqlite-thread.ts", import.meta.url), { workerData: path });
}
