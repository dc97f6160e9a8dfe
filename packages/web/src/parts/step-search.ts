import { isRevision } from "../search-params.ts";

/** The step and revision in the address. */
interface StepSearch {
  /** Absent: the latest. */
  revision?: number;
  /** Absent: the first. */
  step?: number;
}

/** Reads the URL; invalid values are ignored. */
export function readStepSearch({ revision, step }: Record<string, unknown>): StepSearch {
  return {
    ...(isRevision(revision) && { revision }),
    ...(isStep(step) && { step }),
  };
}

export function isStep(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
