export interface EpisodesPlan {
  /** Episodes that are open at once. */
  readonly open: number;
  readonly rounds: number;
  /** Steps, and as many predictions, of a round. */
  readonly steps: number;
  /** Steps that are taken at once. Each is measured; the goal is for the most. */
  readonly concurrency: readonly number[];
}

export const fullEpisodesPlan: EpisodesPlan = {
  open: 5_000,
  rounds: 5,
  steps: 20_000,
  concurrency: [64, 256],
};

export const quickEpisodesPlan: EpisodesPlan = { open: 500, rounds: 1, steps: 5_120, concurrency: [64, 256] };
