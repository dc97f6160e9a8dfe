import {
  clusteredMeanInterval,
  clusteredRateInterval,
  momentsOfClusters,
} from "../../packages/server/src/evaluation/statistics/clustered-interval.ts";
import { wilsonInterval } from "../../packages/server/src/evaluation/statistics/wilson-interval.ts";
import { type Design, fiftyEqual, recorded } from "./designs.ts";
import { createDraws, type Dependence, dependences } from "./draws.ts";

export interface Coverage {
  readonly design: Design;
  readonly rate: number;
  readonly dependence: Dependence;
  /** Shares of the data sets whose interval contains the true rate. */
  readonly clustered: number;
  /** The interval of scores, on the same verdicts. */
  readonly mean: number;
  /** Wilson's interval of as many independent verdicts. */
  readonly naive: number;
}

const measure = (design: Design, rate: number, dependence: Dependence, sets: number): Coverage => {
  const draws = createDraws(20261122);
  const covers = (interval: { lower: number; upper: number } | null) =>
    Number(interval !== null && interval.lower <= rate && rate <= interval.upper);
  let [clustered, mean, naive] = [0, 0, 0];
  for (let set = 0; set < sets; set++) {
    const moments = momentsOfClusters(
      design.sizes.map((count) => ({ count, sum: dependences[dependence](draws, count, rate) })),
    );
    clustered += covers(clusteredRateInterval(moments));
    mean += covers(clusteredMeanInterval(moments));
    naive += covers(wilsonInterval(moments.sum, moments.count));
  }
  return { design, rate, dependence, clustered: clustered / sets, mean: mean / sets, naive: naive / sets };
};

export const measureCoverage = (sets: number): Coverage[] =>
  [fiftyEqual, ...recorded].flatMap((design) =>
    [0.5, 0.8, 0.95].flatMap((rate) =>
      (["beta-binomial", "common verdict"] as const).map((dependence) =>
        measure(design, rate, dependence, sets),
      ),
    ),
  );
