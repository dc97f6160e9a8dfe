export interface RunsPlan {
  /** Imported predictions that three rules judge. */
  readonly predictions: number;
  readonly reports: number;
  readonly live: {
    readonly rounds: number;
    readonly connections: number;
    readonly delayMs: number;
    readonly durationS: number;
    /** Samples of the run beside it; more than it can predict in that time. */
    readonly samples: number;
    readonly concurrency: number;
  };
  readonly smallSamples: number;
  readonly largeSamples: number;
}

export const fullRunsPlan: RunsPlan = {
  predictions: 100_000,
  reports: 5,
  live: { rounds: 3, connections: 4, delayMs: 20, durationS: 8, samples: 60_000, concurrency: 64 },
  smallSamples: 1_000_000,
  largeSamples: 50_000,
};

export const quickRunsPlan: RunsPlan = {
  predictions: 10_000,
  reports: 3,
  live: { rounds: 1, connections: 4, delayMs: 20, durationS: 4, samples: 20_000, concurrency: 64 },
  smallSamples: 50_000,
  largeSamples: 2_000,
};
