import { mersenne } from "pure-rand/generator/mersenne";

export const intraClusterCorrelation = 0.3;

export interface Draws {
  /** From 0 to 1, without 1. */
  uniform(): number;
  chance(probability: number): boolean;
  /** How many of `trials` succeed. */
  successes(trials: number, probability: number): number;
  beta(alpha: number, beta: number): number;
  /** The first step, from 0, that diverges if each does with this chance. */
  firstDivergence(probability: number): number;
  pick(items: readonly number[]): number;
}

/** Seeded. */
export const createDraws = (seed: number): Draws => {
  const random = mersenne(seed);
  const uniform = () => (random.next() >>> 0) / 2 ** 32;
  const chance = (probability: number) => uniform() < probability;
  return {
    uniform,
    chance,
    successes(trials, probability) {
      let count = 0;
      for (let trial = 0; trial < trials; trial++) if (chance(probability)) count += 1;
      return count;
    },
    // M. D. Jöhnk 1964.
    beta(alpha, beta) {
      for (;;) {
        const x = uniform() ** (1 / alpha);
        const y = uniform() ** (1 / beta);
        if (x + y > 0 && x + y <= 1) return x / (x + y);
      }
    },
    firstDivergence: (probability) => Math.floor(Math.log(1 - uniform()) / Math.log(1 - probability)),
    pick: (items) => items[Math.floor(uniform() * items.length)] ?? Number.NaN,
  };
};

/** How the verdicts of one trajectory depend on each other; both have the same rate and correlation. */
export const dependences = {
  /** Each trajectory has its own rate, from a beta distribution. */
  "beta-binomial": (draws: Draws, size: number, rate: number): number => {
    const total = 1 / intraClusterCorrelation - 1;
    return draws.successes(size, draws.beta(rate * total, (1 - rate) * total));
  },
  /** Each verdict is, by chance, the trajectory's common one or its own (A. D. Lunn and S. J. Davies, Biometrika 85 (1998)). */
  "common verdict": (draws: Draws, size: number, rate: number): number => {
    const shared = draws.successes(size, Math.sqrt(intraClusterCorrelation));
    return draws.successes(size - shared, rate) + (draws.chance(rate) ? shared : 0);
  },
} as const;

export type Dependence = keyof typeof dependences;
