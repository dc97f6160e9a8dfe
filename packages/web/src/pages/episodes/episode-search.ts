/** Which step of an episode is shown. */
export interface EpisodeSearch {
  /** From 1; absent: the first. */
  step?: number;
}

/** Reads the URL; invalid values are ignored. */
export function readEpisodeSearch({ step }: Record<string, unknown>): EpisodeSearch {
  return Number.isSafeInteger(step) && Number(step) >= 1 ? { step: Number(step) } : {};
}
