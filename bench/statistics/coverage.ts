import {
  type ClusterSum,
  clusteredError,
  jackknifeError,
  momentsOfClusters,
  rateInterval,
  scoreInterval,
  tQuantile,
  wilsonBounds,
  wilsonInterval,
} from "../../packages/server/src/platform/statistics/intervals.ts";
import {
  allLengths,
  createDraws,
  type Dependence,
  type Draws,
  dependences,
  fewLengths,
  type Lengths,
  trajectoryCounts,
} from "./designs.ts";

/** Product: as in reports. Before: the former intervals, with CR1 and G − 1 degrees of freedom. Other: as the comment at each use says. */
export type Method = "product" | "before" | "other";

export interface Coverage {
  readonly trajectories: number;
  readonly lengths: Lengths;
  /** How verdicts depend on each other, or the kind of scores. */
  readonly kind: string;
  readonly truth: number;
  readonly correlation: number;
  /** The share of the data sets whose interval contains the truth. */
  readonly covered: Readonly<Record<Method, number>>;
  /** The mean width of the intervals. */
  readonly width: Readonly<Record<Method, number>>;
}

type Design = Omit<Coverage, "covered" | "width">;
type Interval = { lower: number; upper: number };
type IntervalOf = (clusters: readonly ClusterSum[]) => Interval | null;

/** The other: Wilson's interval for as many independent verdicts. */
const rateMethods: Record<Method, IntervalOf> = {
  product: (clusters) => rateInterval(momentsOfClusters(clusters), jackknifeError(clusters)),
  before: (clusters) => {
    const moments = momentsOfClusters(clusters);
    const [rate, error] = [moments.sum / moments.count, clusteredError(moments) ?? 0];
    const trials = error === 0 ? clusters.length : Math.min(moments.count, (rate * (1 - rate)) / error ** 2);
    return wilsonBounds(rate, trials, tQuantile(0.975, clusters.length - 1));
  },
  other: (clusters) => {
    const { sum, count } = momentsOfClusters(clusters);
    return wilsonInterval(sum, count);
  },
};

/** The other: the interval from `lower_if_missing` on. */
const scoreMethods: Record<Method, IntervalOf> = {
  product: (clusters) => scoreInterval(momentsOfClusters(clusters), jackknifeError(clusters)),
  before: (clusters) => {
    const moments = momentsOfClusters(clusters);
    const reach = tQuantile(0.975, clusters.length - 1) * (clusteredError(moments) ?? 0);
    const mean = moments.sum / moments.count;
    return { lower: Math.max(0, mean - reach), upper: Math.min(1, mean + reach) };
  },
  other: (clusters) => {
    const { lower, upper } = scoreMethods.product(clusters) ?? { lower: 0, upper: 1 };
    return { lower: lower * 0.05 ** (1 / clusters.length), upper };
  },
};

const measure = (
  sets: number,
  design: Design,
  methods: Record<Method, IntervalOf>,
  drawSum: (draws: Draws, count: number) => number,
): Coverage => {
  const draws = createDraws(20261122);
  const covered = { product: 0, before: 0, other: 0 };
  const width = { product: 0, before: 0, other: 0 };
  for (let set = 0; set < sets; set++) {
    const sizes = design.lengths.draw(draws, design.trajectories);
    const clusters = sizes.map((count) => ({ count, sum: drawSum(draws, count) }));
    for (const method of ["product", "before", "other"] as const) {
      const { lower, upper } = methods[method](clusters) ?? { lower: 0, upper: 1 };
      covered[method] += Number(lower <= design.truth && design.truth <= upper) / sets;
      width[method] += (upper - lower) / sets;
    }
  }
  return { ...design, covered, width };
};

/** Pass rates, in all designs. */
export const measureRates = (sets: number): Coverage[] =>
  (Object.keys(dependences) as Dependence[]).flatMap((kind) =>
    trajectoryCounts.flatMap((trajectories) =>
      allLengths.flatMap((lengths) =>
        [0.5, 0.8, 0.95, 0.99].flatMap((truth) =>
          [0, 0.1, 0.3, 0.5].map((correlation) =>
            measure(sets, { trajectories, lengths, kind, truth, correlation }, rateMethods, (draws, count) =>
              dependences[kind](draws, count, truth, correlation),
            ),
          ),
        ),
      ),
    ),
  );

/** One trajectory in twenty fails entirely. */
export const rareKind = "a rare kind";

/** Scores of samples that are right and of others are uniform between two numbers each. */
const scoreKinds = [
  { kind: "right or partly right", right: 0.7, scores: [1, 1], others: [0, 0.8] },
  { kind: "mostly right", right: 0.95, scores: [1, 1], others: [0, 0.9] },
  { kind: "around a middle", right: 0.6, scores: [0.4, 1], others: [0, 0.6] },
  { kind: "mostly low", right: 0.2, scores: [0.6, 1], others: [0, 0.1] },
  { kind: rareKind, right: 0.95, scores: [0.8, 1], others: [0, 0] },
] as const;

/** Mean scores. */
export const measureScores = (sets: number): Coverage[] =>
  trajectoryCounts.flatMap((trajectories) =>
    scoreKinds.flatMap(({ kind, right, scores, others }) =>
      fewLengths.map((lengths) => {
        const truth = (right * (scores[0] + scores[1]) + (1 - right) * (others[0] + others[1])) / 2;
        const correlation = kind === rareKind ? 1 : 0.3;
        const design = { trajectories, lengths, kind, truth, correlation };
        return measure(sets, design, scoreMethods, (draws, count) => {
          const rights = dependences["beta-binomial"](draws, count, right, correlation);
          let sum = 0;
          for (let index = 0; index < count; index++) {
            const [least, most] = index < rights ? scores : others;
            sum += least + (most - least) * draws.uniform();
          }
          return sum;
        });
      }),
    ),
  );

/** For some designs: mean and least coverage, and mean width. */
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
  trajectories,
  name,
  chosenBy,
  has: (one: Coverage) => one.trajectories === trajectories && designs[name](one),
});

/** With the results of another simulation, of 800 data sets per design, from when the formula was chosen. */
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
