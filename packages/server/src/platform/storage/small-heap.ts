import type { WorkerOptions } from "node:worker_threads";

/** Options of a thread that collects its garbage early instead of after tens of megabytes, and so is a little slower. */
export function smallHeap(workerData: unknown): WorkerOptions {
  // Bun's own.
  const options: WorkerOptions & { smol: boolean } = { workerData, smol: true };
  return options;
}
