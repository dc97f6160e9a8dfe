import { isStep } from "../../../parts/step-search.ts";

/** The step and repeat in the address. */
export interface RunStepSearch {
  /** Absent: the first divergence, or the first step. */
  step?: number;
  /** Absent: the first, 0. */
  repeat?: number;
}

/** Reads the URL; invalid values are ignored. */
export function readRunStepSearch({ step, repeat }: Record<string, unknown>): RunStepSearch {
  return {
    ...(isStep(step) && { step }),
    ...(isStep(repeat) && repeat > 0 && { repeat }),
  };
}
