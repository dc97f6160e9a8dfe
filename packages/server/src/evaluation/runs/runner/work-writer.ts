import type { RunWork } from "../run-work-store.ts";

/** Stores work. Returns false if the run is not this process's any more. */
export type WriteWork = (work: RunWork) => Promise<boolean>;

export type WorkPart = Partial<Pick<RunWork, "predictions" | "verdicts" | "traits" | "counts">>;

/** Another process works on the run, or it was cancelled. */
export class LostRunError extends Error {
  constructor() {
    super("The run is not this process's any more");
    this.name = "LostRunError";
  }
}

export type WorkWriter = ReturnType<typeof createWorkWriter>;

const noCounts: RunWork["counts"] = { predicted: 0, evaluated: 0, failed: 0 };

/** Batches what is done at the same time: while one batch is written, the next one collects. */
export function createWorkWriter(ids: Pick<RunWork, "runId" | "leaseId">, write: WriteWork) {
  let waiting: { part: WorkPart; stored: PromiseWithResolvers<void> }[] = [];
  let isWriting = false;

  async function writeWaiting(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    // Parts that are added in the same turn of the event loop join the batch.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const isStored = await write({ ...ids, ...together(batch.map(({ part }) => part)) });
        for (const { stored } of batch) {
          if (isStored) stored.resolve();
          else stored.reject(new LostRunError());
        }
      } catch (error) {
        for (const { stored } of batch) stored.reject(error);
      }
    }
    isWriting = false;
  }

  return {
    /** Returns once the part is on disk. */
    async add(part: WorkPart): Promise<void> {
      const stored = Promise.withResolvers<void>();
      waiting.push({ part, stored });
      void writeWaiting();
      await stored.promise;
    },
  };
}

function together(parts: readonly WorkPart[]): Omit<RunWork, "runId" | "leaseId"> {
  return {
    predictions: parts.flatMap(({ predictions = [] }) => predictions),
    verdicts: parts.flatMap(({ verdicts = [] }) => verdicts),
    traits: parts.flatMap(({ traits = [] }) => traits),
    counts: parts.reduce(
      (sum, { counts = noCounts }) => ({
        predicted: sum.predicted + counts.predicted,
        evaluated: sum.evaluated + counts.evaluated,
        failed: sum.failed + counts.failed,
      }),
      noCounts,
    ),
  };
}
