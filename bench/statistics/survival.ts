import { z95 } from "../../packages/server/src/platform/statistics/intervals.ts";
import {
  bootstrapSurvival,
  type FirstDivergence,
  type SurvivalCurve,
  survival,
} from "../../packages/server/src/platform/statistics/survival.ts";
import { createDraws, type Draws, recordedSizes } from "./designs.ts";

export const trajectories = 60;
export const repeats = 4;

export interface SurvivalCoverage {
  /** The chance of a divergence at each step; its mean, if trajectories differ. */
  readonly chance: number;
  /** Counted from 1. */
  readonly step: number;
  /** The share of data sets whose interval contains the true survival, among those with an interval. */
  readonly covered: number;
  /** Without clusters, or without the log-log scale, in the same data sets. */
  readonly naive: number;
  /** The share of data sets whose estimate is 1 or 0. */
  readonly without: number;
}

type Interval = { lower: number; upper: number } | null;

const steps = [1, 5, 10];

/** The curve is constant between its steps. */
const at = (curve: SurvivalCurve, step: number) => curve.steps.findLast((one) => one.step < step);

const drawTrajectory = (draws: Draws, chance: number, length: number): FirstDivergence => {
  const first = draws.firstDivergence(chance);
  return first < length
    ? { lastStep: first, ending: "diverged" }
    : { lastStep: length - 1, ending: "recording-ended" };
};

/** S ± z · √(Greenwood's variance), on the plain scale. */
const plainInterval = (curve: SurvivalCurve, step: number): Interval => {
  const passed = curve.steps.filter((one) => one.step < step);
  const share = passed.at(-1)?.survival ?? 1;
  const variance = passed.reduce(
    (sum, { atRisk, diverged }) => sum + diverged / (atRisk * (atRisk - diverged)),
    0,
  );
  return {
    lower: share - z95 * share * Math.sqrt(variance),
    upper: share + z95 * share * Math.sqrt(variance),
  };
};

type Draw = { read: (step: number) => Interval; readNaive: (step: number) => Interval };

const measure = async (
  sets: number,
  chance: number,
  truth: (step: number) => number,
  draw: (draws: Draws) => Draw | Promise<Draw>,
): Promise<SurvivalCoverage[]> => {
  const draws = createDraws(20261124);
  const counts = steps.map((step) => ({ step, covered: 0, naive: 0, found: 0 }));
  for (let set = 0; set < sets; set++) {
    const { read, readNaive } = await draw(draws);
    for (const count of counts) {
      const interval = read(count.step);
      if (interval === null) continue;
      const covers = (one: Interval) =>
        Number(one !== null && one.lower <= truth(count.step) && truth(count.step) <= one.upper);
      count.found += 1;
      count.covered += covers(interval);
      count.naive += covers(readNaive(count.step));
    }
  }
  return counts.map(({ step, covered, naive, found }) => ({
    chance,
    step,
    covered: covered / found,
    naive: naive / found,
    without: 1 - found / sets,
  }));
};

/** Each trajectory once, as long as one of the recorded ones. The naive interval is on the plain scale. */
export const measureSurvival = async (sets: number): Promise<SurvivalCoverage[]> => {
  const all: SurvivalCoverage[] = [];
  for (const chance of [0.05, 0.1, 0.2]) {
    const measured = await measure(
      sets,
      chance,
      (step) => (1 - chance) ** step,
      (draws) => {
        const curve = survival(
          Array.from({ length: trajectories }, () =>
            drawTrajectory(draws, chance, draws.pick(recordedSizes)),
          ),
        );
        return {
          read: (step) => at(curve, step)?.interval ?? null,
          readNaive: (step) => plainInterval(curve, step),
        };
      },
    );
    all.push(...measured);
  }
  return all;
};

/** Four repeats of each trajectory, which has its own chance of a divergence. The naive interval takes all repeats as independent. */
export const measureRepeatedSurvival = (sets: number): Promise<SurvivalCoverage[]> => {
  const [alpha, beta] = [1, 9];
  const chance = alpha / (alpha + beta);
  const truth = (step: number) =>
    Array.from({ length: step }, (_, index) => (beta + index) / (alpha + beta + index)).reduce(
      (product, factor) => product * factor,
      1,
    );
  return measure(sets, chance, truth, async (draws) => {
    const endings = Array.from({ length: trajectories }, () => {
      const own = draws.beta(alpha, beta);
      const length = draws.pick(recordedSizes);
      return Array.from({ length: repeats }, () => drawTrajectory(draws, own, length));
    });
    const clustered = await bootstrapSurvival(endings, 1);
    const naive = survival(endings.flat());
    return {
      read: (step) => at(clustered, step)?.interval ?? null,
      readNaive: (step) => at(naive, step)?.interval ?? null,
    };
  });
};
