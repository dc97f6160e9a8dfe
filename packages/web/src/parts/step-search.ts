// The addresses of the pages that show one step: of a dataset's trajectory, of a run's trajectory, and of an episode.
import { isRevision, present } from "../search-params.ts";

/** The part of a dataset's trajectory to show: without a revision of the latest, without a step the first. */
export function readStepSearch({ revision, step }: Record<string, unknown>) {
  return present({
    revision: isRevision(revision) ? revision : undefined,
    step: isStep(step) ? step : undefined,
  });
}

export function isStep(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** The part of a run's trajectory to show: without a step the first divergence, else the first step. */
export function readRunStepSearch({ step, repeat }: Record<string, unknown>) {
  return present({
    step: isStep(step) ? step : undefined,
    repeat: isStep(repeat) && repeat > 0 ? repeat : undefined,
  });
}

/** The step of an episode to show, from 1; without one, the first. */
export function readEpisodeSearch({ step }: Record<string, unknown>) {
  return present({ step: isStep(step) && step > 0 ? step : undefined });
}
