import type { Coverage, Method } from "./measure-coverage.ts";

/** Of some designs: mean and least coverage, and mean width. */
export type Summary = readonly [mean: number, worst: number, width: number];

export const summarize = (coverage: readonly Coverage[], by: Method): Summary => {
  const mean = (of: "covered" | "width") =>
    coverage.reduce((sum, one) => sum + one[of][by], 0) / coverage.length;
  return [mean("covered"), Math.min(...coverage.map((one) => one.covered[by])), mean("width")];
};

const designs = {
  "like, rates 0.5 and 0.8": ({ lengths, truth }) => lengths.areLike && truth <= 0.8,
  "like, rates 0.95 and 0.99": ({ lengths, truth }) => lengths.areLike && truth > 0.8,
  "unlike, all rates": ({ lengths }) => !lengths.areLike,
} satisfies Record<string, (coverage: Coverage) => boolean>;

const row = (trajectories: number, name: keyof typeof designs, chosenBy: Summary) => ({
  ...{ trajectories, name, chosenBy },
  has: (one: Coverage) => one.trajectories === trajectories && designs[name](one),
});

/** With what another simulation, of 800 data sets a design, said of the formula when it was chosen. */
export const coverageRows = [
  row(8, "like, rates 0.5 and 0.8", [0.984, 0.95, 0.435]),
  row(8, "like, rates 0.95 and 0.99", [0.985, 0.95, 0.374]),
  row(8, "unlike, all rates", [0.991, 0.96, 0.5]),
  row(20, "like, rates 0.5 and 0.8", [0.964, 0.94, 0.249]),
  row(20, "like, rates 0.95 and 0.99", [0.977, 0.95, 0.143]),
  row(20, "unlike, all rates", [0.988, 0.95, 0.325]),
  row(60, "like, rates 0.5 and 0.8", [0.954, 0.94, 0.138]),
  row(60, "like, rates 0.95 and 0.99", [0.961, 0.91, 0.055]),
  row(60, "unlike, all rates", [0.986, 0.93, 0.233]),
];
