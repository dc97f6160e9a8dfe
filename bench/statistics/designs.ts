import type { Draws } from "./draws.ts";

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
  /** Whether none has a large part of the samples. */
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
  ...[equal, geometric, likeAppWorld, likeScienceWorld],
  ...[dominated("one has a third of the samples", 0.5), oneHasHalf],
  eachOf("log-normal", false, (draws) => Math.max(1, Math.round(mean * Math.exp(draws.normal() - 0.5)))),
];
export const fewLengths = [equal, geometric, likeScienceWorld, oneHasHalf];
