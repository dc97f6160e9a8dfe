import { doTogether } from "../../platform/storage/batches.ts";
import { countNames, noCounts, type WorkCounts } from "../run.ts";
import type { RunWork } from "./work-store.ts";

/** Stores work. Returns false if another process has the run. */
export type WriteWork = (work: RunWork) => Promise<boolean>;

export type WorkPart = Partial<Pick<RunWork, "predictions" | "verdicts" | "traits">> & {
  counts?: Partial<WorkCounts>;
};

/** Another process works on the run, or it was cancelled. */
export class LostRunError extends Error {
  constructor() {
    super("The run is not this process's any more");
    this.name = "LostRunError";
  }
}

export type WorkWriter = ReturnType<typeof createWorkWriter>;

/** What is done at the same time shares a commit. */
export function createWorkWriter(ids: Pick<RunWork, "runId" | "leaseId">, write: WriteWork) {
  const add = doTogether<WorkPart, boolean>(async (parts) => {
    const isStored = await write({ ...ids, ...together(parts) });
    return parts.map(() => isStored);
  });
  return {
    /** Returns once the part is on disk. */
    async add(part: WorkPart): Promise<void> {
      if (!(await add(part))) throw new LostRunError();
    },
  };
}

function together(parts: readonly WorkPart[]): Omit<RunWork, "runId" | "leaseId"> {
  return {
    predictions: parts.flatMap(({ predictions = [] }) => predictions),
    verdicts: parts.flatMap(({ verdicts = [] }) => verdicts),
    traits: parts.flatMap(({ traits = [] }) => traits),
    counts: parts.reduce(
      (sum, { counts = {} }) => {
        for (const name of countNames) sum[name] += counts[name] ?? 0;
        return sum;
      },
      { ...noCounts },
    ),
  };
}
