export interface EvaluationsPlan {
  readonly throughput: {
    readonly rounds: number;
    /** Each is measured; the goal is for the most. */
    readonly connections: readonly number[];
    readonly warmUpS: number;
    readonly durationS: number;
  };
  readonly beside: {
    readonly rounds: number;
    readonly connections: number;
    readonly delayMs: number;
    readonly durationS: number;
    readonly heavyInFlight: number;
  };
  readonly accounts: {
    readonly rounds: number;
    readonly connections: number;
    readonly durationS: number;
    readonly heavyInFlight: number;
  };
}

export const fullEvaluationsPlan: EvaluationsPlan = {
  throughput: { rounds: 3, connections: [64, 256], warmUpS: 7, durationS: 8 },
  beside: { rounds: 3, connections: 4, delayMs: 5, durationS: 8, heavyInFlight: 20 },
  accounts: { rounds: 5, connections: 4, durationS: 6, heavyInFlight: 50 },
};

export const quickEvaluationsPlan: EvaluationsPlan = {
  throughput: { rounds: 1, connections: [64, 256], warmUpS: 1, durationS: 2 },
  beside: { rounds: 1, connections: 4, delayMs: 5, durationS: 3, heavyInFlight: 20 },
  accounts: { rounds: 1, connections: 4, durationS: 3, heavyInFlight: 50 },
};
