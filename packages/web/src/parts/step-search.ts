// The addresses of the pages that show one step: of a dataset's trajectory, of a run's trajectory, and of an episode.
import { isRevision, present } from "../search-params.ts";

/** The part of a dataset's trajectory to show. */
interface StepSearch {
  /** Absent: the latest. */
  revision?: number;
  /** Absent: the first. */
  step?: number;
}

/** Reads the URL; invalid values are ignored. */
export function readStepSearch({ revision, step }: Record<string, unknown>): StepSearch {
  return present({
    revision: isRevision(revision) ? revision : undefined,
    step: isStep(step) ? step : undefined,
  });
}

export function isStep(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** The part of a run's trajectory to show. */
interface RunStepSearch {
  /** Absent: the first divergence, or the first step. */
  step?: number;
  /** Absent: the first, 0. */
  repeat?: number;
}

/** Reads the URL; invalid values are ignored. */
export function readRunStepSearch({ step, repeat }: Record<string, unknown>): RunStepSearch {
  return present({
    step: isStep(step) ? step : undefined,
    repeat: isStep(repeat) && repeat > 0 ? repeat : undefined,
  });
}

/** The step of an episode to show. */
interface EpisodeSearch {
  /** From 1; absent: the first. */
  step?: number;
}

/** Reads the URL; invalid values are ignored. */
export function readEpisodeSearch({ step }: Record<string, unknown>): EpisodeSearch {
  return isStep(step) && step > 0 ? { step } : {};
}
