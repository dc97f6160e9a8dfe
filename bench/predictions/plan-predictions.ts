/** One row of the tables: a number of connections and the upstream's delay. */
export interface Scenario {
  readonly connections: number;
  readonly delayMs: number;
  readonly durationS: number;
}

export interface PredictionsPlan {
  readonly rounds: number;
  readonly warmUpS: number;
  /** Before the first round, so that Bun and Node have compiled their hot paths. */
  readonly firstWarmUpS: number;
  readonly scenarios: readonly Scenario[];
  readonly startRuns: number;
  /** Concurrent rollouts, each sending its steps one after the other. */
  readonly inFlight: { readonly rollouts: number; readonly steps: number; readonly delayMs: number };
  readonly settleMs: number;
}

interface Durations {
  readonly oneS: number;
  readonly manyS: number;
  readonly crowdS: number;
}

const scenariosOf = (delayMs: number, { oneS, manyS, crowdS }: Durations): Scenario[] => [
  { connections: 1, delayMs, durationS: oneS },
  { connections: 32, delayMs, durationS: manyS },
  { connections: 256, delayMs, durationS: crowdS },
];

export const fullPredictionsPlan: PredictionsPlan = {
  rounds: 3,
  warmUpS: 1,
  firstWarmUpS: 4,
  // Processor time is counted in ticks of 10 ms: 6 s under load are some hundreds.
  scenarios: [
    ...scenariosOf(0, { oneS: 3, manyS: 6, crowdS: 4 }),
    ...scenariosOf(50, { oneS: 2, manyS: 4, crowdS: 4 }),
  ],
  startRuns: 5,
  inFlight: { rollouts: 5000, steps: 3, delayMs: 1000 },
  settleMs: 3000,
};

export const quickPredictionsPlan: PredictionsPlan = {
  rounds: 1,
  warmUpS: 1,
  firstWarmUpS: 1,
  scenarios: [
    ...scenariosOf(0, { oneS: 1, manyS: 2, crowdS: 1 }),
    ...scenariosOf(50, { oneS: 1, manyS: 1, crowdS: 1 }),
  ],
  startRuns: 3,
  inFlight: { rollouts: 5000, steps: 3, delayMs: 1000 },
  settleMs: 1000,
};
