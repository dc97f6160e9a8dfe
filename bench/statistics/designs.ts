import { mersenne } from "pure-rand/generator/mersenne";

export interface Draws {
  /** A number from 0 to 1, excluding 1. */
  uniform(): number;
  chance(probability: number): boolean;
  /** How many of `trials` succeed. */
  successes(trials: number, probability: number): number;
  beta(alpha: number, beta: number): number;
  /** A draw from the standard normal distribution. */
  normal(): number;
  /** The first step, from 0, that diverges if each step does with this probability. */
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
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
    firstDivergence: (probability) => Math.floor(Math.log(1 - uniform()) / Math.log(1 - probability)),
    pick: (items) => items[Math.floor(uniform() * items.length)] ?? Number.NaN,
  };
};

/** The number of verdicts of one trajectory that pass, given their number, rate and correlation. */
type CorrelatedVerdicts = (draws: Draws, size: number, rate: number, correlation: number) => number;

/** How the verdicts of one trajectory depend on each other; all have the same rate and correlation. */
export const dependences = {
  /** Each trajectory has its own rate, from a beta distribution. Drawn one by one from Pólya's urn, which is the same. */
  "beta-binomial": (draws, size, rate, correlation) => {
    let passed = 0;
    for (let index = 0; index < size; index++) {
      const weight = index === 0 ? 0 : correlation / (1 + (index - 1) * correlation);
      if (draws.chance(rate * (1 - index * weight) + passed * weight)) passed += 1;
    }
    return passed;
  },
  /** Each verdict is, by chance, the trajectory's common one or its own (A. D. Lunn and S. J. Davies, Biometrika 85 (1998)). */
  "common verdict": (draws, size, rate, correlation) => {
    const shared = draws.successes(size, Math.sqrt(correlation));
    return draws.successes(size - shared, rate) + (draws.chance(rate) ? shared : 0);
  },
} as const satisfies Record<string, CorrelatedVerdicts>;

export type Dependence = keyof typeof dependences;

/** Transitions by trajectory in two recorded data sets, from AppWorld and from ScienceWorld. */
const appWorldSizes = [3, 3, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5, 6, 7, 7, 8, 8, 9, 9, 10, 11, 17];
const scienceWorldSizes = [
  3, 3, 5, 6, 6, 7, 7, 11, 13, 13, 13, 14, 15, 15, 17, 17, 18, 18, 19, 19, 23, 23, 24, 39, 46,
];
export const recordedSizes = [...appWorldSizes, ...scienceWorldSizes];

export const trajectoryCounts = [8, 20, 60] as const;

/** How long trajectories are. */
export interface Lengths {
  readonly name: string;
  /** Whether no trajectory has a large part of the samples. */
  readonly areLike: boolean;
  draw(draws: Draws, trajectories: number): number[];
}

const mean = 10;

const eachOf = (name: string, areLike: boolean, draw: (draws: Draws) => number): Lengths => ({
  name,
  areLike,
  draw: (draws, trajectories) => Array.from({ length: trajectories }, () => draw(draws)),
});

const dominated = (name: string, timesTheOthers: number): Lengths => ({
  name,
  areLike: false,
  draw: (_, trajectories) => [
    Math.round((trajectories - 1) * mean * timesTheOthers),
    ...Array<number>(trajectories - 1).fill(mean),
  ],
});

const equal = eachOf("equal", true, () => mean);
const geometric = eachOf("geometric", true, (draws) => 1 + draws.firstDivergence(1 / mean));
const likeAppWorld = eachOf("AppWorld's", true, (draws) => draws.pick(appWorldSizes));
const likeScienceWorld = eachOf("ScienceWorld's", true, (draws) => draws.pick(scienceWorldSizes));
const oneHasHalf = dominated("one has half of the samples", 1);

export const allLengths: readonly Lengths[] = [
  equal,
  geometric,
  likeAppWorld,
  likeScienceWorld,
  dominated("one has a third of the samples", 0.5),
  oneHasHalf,
  eachOf("log-normal", false, (draws) => Math.max(1, Math.round(mean * Math.exp(draws.normal() - 0.5)))),
];
export const fewLengths = [equal, geometric, likeScienceWorld, oneHasHalf];
