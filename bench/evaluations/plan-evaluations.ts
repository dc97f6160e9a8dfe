export interface EvaluationsPlan {
  readonly throughput: {
    readonly rounds: number;
    readonly connections: number;
    readonly warmUpS: number;
    readonly durationS: number;
  };
  readonly search: {
    /** Numbers of results in the databases, ascending; every ratio is to the first. */
    readonly sizes: Readonly<Record<"SQLite" | "PostgreSQL", readonly number[]>>;
    readonly pageRepeats: number;
    readonly summaryRepeats: number;
  };
  readonly beside: {
    readonly rounds: number;
    readonly connections: number;
    readonly delayMs: number;
    readonly durationS: number;
    readonly heavyInFlight: number;
  };
}

export const fullEvaluationsPlan: EvaluationsPlan = {
  throughput: { rounds: 3, connections: 64, warmUpS: 2, durationS: 8 },
  search: {
    sizes: { SQLite: [10_000, 1_000_000], PostgreSQL: [10_000, 1_000_000, 5_000_000] },
    pageRepeats: 30,
    summaryRepeats: 10,
  },
  beside: { rounds: 3, connections: 4, delayMs: 5, durationS: 8, heavyInFlight: 20 },
};

export const quickEvaluationsPlan: EvaluationsPlan = {
  throughput: { rounds: 1, connections: 64, warmUpS: 1, durationS: 2 },
  search: {
    sizes: { SQLite: [10_000, 100_000], PostgreSQL: [10_000, 100_000] },
    pageRepeats: 10,
    summaryRepeats: 3,
  },
  beside: { rounds: 1, connections: 4, delayMs: 5, durationS: 3, heavyInFlight: 20 },
};
