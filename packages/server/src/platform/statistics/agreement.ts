import type { LabelAgreement } from "@presage/contract";
import {
  type ClusteredFigure,
  effectiveClusters,
  jackknifeError,
  jackknifeInterval,
  momentsOfClusters,
  rateInterval,
  rounding,
  tQuantile,
  whyNoInterval,
  wilsonBounds,
} from "./intervals.ts";

/** The verdicts of two raters on one thing: `first` is the evaluator whose agreement is measured. */
export interface Pair {
  first: boolean;
  second: boolean;
}

/** The verdicts of two raters on some things, counted or weighed by combination. */
export interface PairTable {
  bothPass: number;
  onlyFirst: number;
  onlySecond: number;
  bothFail: number;
}

const noPairs: Readonly<PairTable> = { bothPass: 0, onlyFirst: 0, onlySecond: 0, bothFail: 0 };
type Cell = keyof PairTable;
export const cells = ["bothPass", "onlyFirst", "onlySecond", "bothFail"] as const satisfies readonly Cell[];

/** The pairs of one trajectory: their counts and their weights. */
export interface PairCluster {
  counts: PairTable;
  weights: PairTable;
}

/** Pairs by trajectory. A weight is the inverse of the probability with which a thing was drawn; 1 if all weigh the same. */
export function createPairs() {
  const clusters = new Map<number | string, PairCluster>();
  return {
    add(cluster: number | string, { first, second }: Pair, weight = 1): void {
      const found = clusters.get(cluster) ?? { counts: { ...noPairs }, weights: { ...noPairs } };
      clusters.set(cluster, found);
      const cell = first ? (second ? "bothPass" : "onlyFirst") : second ? "onlySecond" : "bothFail";
      found.counts[cell] += 1;
      found.weights[cell] += weight;
    },
    end: (): PairCluster[] => [...clusters.values()],
    /** The rated things without weights, for α. */
    things: (): RatedThing[] =>
      [...clusters].flatMap(([cluster, { counts }]) => [
        { cluster, passes: 2, fails: 0, weight: 1, times: counts.bothPass },
        { cluster, passes: 1, fails: 1, weight: 1, times: counts.onlyFirst + counts.onlySecond },
        { cluster, passes: 0, fails: 2, weight: 1, times: counts.bothFail },
      ]),
  };
}

type AgreementFigures = Pick<
  LabelAgreement,
  "agreement" | "cohen_kappa" | "gwet_ac1" | "sensitivity" | "specificity" | "precision" | "more_labels"
>;

/** The second rater is the reference. */
export interface PairAgreement extends AgreementFigures {
  counts: PairTable;
}

/** How far two raters agree. Intervals leave out one trajectory at a time. */
export function pairAgreement(clusters: readonly PairCluster[], isWeighted: boolean): PairAgreement {
  const counts = sumOf(clusters.map((cluster) => cluster.counts));
  const share = (hit: readonly Cell[], of: readonly Cell[], why: string) =>
    shareFigure(clusters, { hit, of, why, isWeighted });
  const agreement = share(["bothPass", "bothFail"], cells, "There is nothing to compare.");
  return {
    counts,
    agreement,
    cohen_kappa: pairCoefficient(clusters, cohenKappa),
    gwet_ac1: pairCoefficient(clusters, gwetAc1),
    sensitivity: share(["bothPass"], ["bothPass", "onlySecond"], "None was passed by the reference."),
    specificity: share(["bothFail"], ["bothFail", "onlyFirst"], "None was failed by the reference."),
    precision: share(["bothPass"], ["bothPass", "onlyFirst"], "The evaluator passed none."),
    more_labels: moreLabels(agreement),
  };
}

export function sumOf(tables: readonly PairTable[]): PairTable {
  const sum = { ...noPairs };
  for (const table of tables) for (const cell of cells) sum[cell] += table[cell];
  return sum;
}

export const totalOf = (table: PairTable, some: readonly Cell[]) =>
  some.reduce((sum, cell) => sum + table[cell], 0);

/** Agreement beyond what raters with the same shares of passes would have by chance (J. Cohen 1960). NaN if both only pass or only fail. */
export function cohenKappa(table: PairTable): number {
  const { observed, first, second } = sharesOf(table);
  const byChance = first * second + (1 - first) * (1 - second);
  return byChance > 1 - rounding ? Number.NaN : beyond(observed, byChance);
}

/** Like κ, but chance agreement is that of guesses on things that are hard to decide (K. L. Gwet 2008); defined for one category too. */
function gwetAc1(table: PairTable): number {
  const { observed, first, second } = sharesOf(table);
  const passes = (first + second) / 2;
  return beyond(observed, 2 * passes * (1 - passes));
}

/** Removes what rounding leaves of 0, which would be shown as −0. */
function beyond(observed: number, byChance: number): number {
  return Math.abs(observed - byChance) < rounding ? 0 : (observed - byChance) / (1 - byChance);
}

function sharesOf(table: PairTable) {
  const all = totalOf(table, cells);
  return {
    observed: totalOf(table, ["bothPass", "bothFail"]) / all,
    first: totalOf(table, ["bothPass", "onlyFirst"]) / all,
    second: totalOf(table, ["bothPass", "onlySecond"]) / all,
  };
}

/** The verdicts of several raters on one thing. */
export interface RatedThing {
  cluster: number | string;
  passes: number;
  fails: number;
  weight: number;
  /** How many such things there are. Absent: one. */
  times?: number;
}

/** The sums behind α: values by category among things with at least two of them, and coincidences of unlike values. */
interface Coincidences {
  passes: number;
  fails: number;
  unlike: number;
}

/**
 * Krippendorff's α for nominal values of any number of raters, who may have left out some (K. Krippendorff 2011):
 * 1 − (n − 1) · Σ unlike pairs / (n_pass · n_fail · 2). A thing that fewer than two have rated does not count.
 */
export function krippendorffAlpha(things: readonly RatedThing[]): ClusteredFigure {
  const rated = things.filter(({ passes, fails }) => passes + fails > 1);
  const sumOver = (some: readonly RatedThing[], of: (thing: RatedThing) => number) =>
    some.reduce((sum, thing) => sum + (thing.times ?? 1) * of(thing), 0);
  const mean = sumOver(rated, ({ weight }) => weight) / sumOver(rated, () => 1);
  const sums = [...Map.groupBy(rated, ({ cluster }) => cluster).values()].map((ofCluster) => ({
    count: sumOver(ofCluster, () => 1),
    weight: sumOver(ofCluster, ({ weight }) => weight),
    of: ofCluster.reduce(
      (sum, thing) => addCoincidences(sum, coincidencesOf(thing, mean), 1),
      noCoincidences,
    ),
  }));
  const all = sums.reduce((sum, { of }) => addCoincidences(sum, of, 1), noCoincidences);
  const without = sums.map(({ of }) => alphaOf(addCoincidences(all, of, -1)));
  return coefficientFigure(alphaOf(all), without, sums, oneOf(all.passes, all.fails));
}

const noCoincidences: Readonly<Coincidences> = { passes: 0, fails: 0, unlike: 0 };

function coincidencesOf({ passes, fails, weight, times = 1 }: RatedThing, mean: number): Coincidences {
  // The correction for few values counts them, so the weights must be 1 on average.
  const of = (times * weight) / mean;
  return { passes: of * passes, fails: of * fails, unlike: (of * 2 * passes * fails) / (passes + fails - 1) };
}

function addCoincidences(a: Coincidences, b: Coincidences, sign: 1 | -1): Coincidences {
  return {
    passes: a.passes + sign * b.passes,
    fails: a.fails + sign * b.fails,
    unlike: a.unlike + sign * b.unlike,
  };
}

function alphaOf({ passes, fails, unlike }: Coincidences): number {
  if (passes < rounding || fails < rounding) return Number.NaN;
  return 1 - ((passes + fails - 1) * unlike) / (2 * passes * fails);
}

const oneOf = (passes: number, fails: number) =>
  passes + fails === 0
    ? "There is nothing to compare."
    : `All are ${passes > 0 ? "pass" : "fail"}: with one category there is no chance agreement to compare with.`;

export function pairCoefficient(
  clusters: readonly PairCluster[],
  coefficient: (table: PairTable) => number,
): ClusteredFigure {
  const all = sumOf(clusters.map(({ weights }) => weights));
  const without = clusters.map(({ weights }) => coefficient(less(all, weights)));
  const sums = clusters.map(({ counts, weights }) => ({
    count: totalOf(counts, cells),
    weight: totalOf(weights, cells),
  }));
  const why = oneOf(all.bothPass, all.bothFail);
  return coefficientFigure(sums.length === 0 ? Number.NaN : coefficient(all), without, sums, why);
}

export function less(all: PairTable, some: PairTable): PairTable {
  const rest = { ...noPairs };
  // Differences of sums of fractions may be a little below 0.
  for (const cell of cells) rest[cell] = all[cell] - some[cell] < rounding ? 0 : all[cell] - some[cell];
  return rest;
}

interface ClusterWeight {
  count: number;
  weight: number;
}

/** The sample sizes that each figure reports. */
function madeOf(clusters: readonly ClusterWeight[]) {
  const effective = effectiveClusters(
    momentsOfClusters(clusters.map(({ weight }) => ({ count: weight, sum: 0 }))),
  );
  return {
    count: clusters.reduce((sum, { count }) => sum + count, 0),
    trajectories: clusters.length,
    effective_trajectories: clusters.length === 0 ? null : effective,
  };
}

const allAlike = "All trajectories are alike, which does not show how far others would differ.";

/** A figure from −1 to 1: ± t of G* − 1 degrees of freedom times the jackknife's standard error. */
function coefficientFigure(
  value: number,
  without: readonly number[],
  clusters: readonly ClusterWeight[],
  whyUndefined: string,
): ClusteredFigure {
  const made = madeOf(clusters);
  if (Number.isNaN(value)) return { value: null, interval: null, ...made, note: whyUndefined };
  const leftOut = Float64Array.from(without);
  const { interval, why } = jackknifeInterval(value, leftOut, made.effective_trajectories ?? 0, -1);
  if (interval !== null && interval.upper - interval.lower < rounding)
    return { value, interval: null, ...made, note: allAlike };
  return { value, interval, ...made, note: why === null ? null : whyNoInterval[why] };
}

interface Share {
  hit: readonly Cell[];
  of: readonly Cell[];
  /** The note if the share is undefined. */
  why: string;
  isWeighted: boolean;
}

/** A share of verdicts, with the interval of a pass rate; with weights, that of a mean score. */
export function shareFigure(
  clusters: readonly PairCluster[],
  { hit, of, why, isWeighted }: Share,
): ClusteredFigure {
  const sums = clusters.flatMap(({ counts, weights }) => {
    const count = totalOf(counts, of);
    return count === 0 ? [] : [{ count, weight: totalOf(weights, of), sum: totalOf(weights, hit) }];
  });
  const made = madeOf(sums);
  if (sums.length === 0) return { value: null, interval: null, ...made, note: why };
  const [weight, sum] = [
    sums.reduce((all, one) => all + one.weight, 0),
    sums.reduce((all, one) => all + one.sum, 0),
  ];
  const value = Math.min(1, sum / weight);
  if (isWeighted) {
    const without = Float64Array.from(sums, (one) => (sum - one.sum) / (weight - one.weight));
    const interval = jackknifeInterval(value, without, made.effective_trajectories ?? 0);
    return {
      value,
      interval: interval.interval,
      ...made,
      note: interval.why === null ? null : whyNoInterval[interval.why],
    };
  }
  const interval = rateInterval(momentsOfClusters(sums), jackknifeError(sums));
  return {
    value,
    interval,
    ...made,
    note: interval === null ? "One trajectory only: there is no interval." : null,
  };
}

/** The half widths to aim at. */
const aimedAt = [0.1, 0.05, 0.02];
/** Nobody labels more than this. */
const most = 1_000_000;

type Known = Pick<ClusteredFigure, "value" | "interval" | "count" | "effective_trajectories">;

/**
 * The fewest additional labels with which Wilson's interval is as narrow as the next aim, if they come from proportionally more
 * trajectories and are as alike within them as the labels so far. Before there is an interval: half agree, each label in its own trajectory.
 */
export function moreLabels({
  value,
  interval,
  count,
  effective_trajectories,
}: Known): LabelAgreement["more_labels"] {
  const isKnown = value !== null && interval !== null && effective_trajectories !== null;
  const half = isKnown ? (interval.upper - interval.lower) / 2 : 1;
  const aim = aimedAt.find((width) => width < half);
  if (aim === undefined) return { half_width: aimedAt.at(-1) ?? 0, count: null };
  const rate = isKnown ? value : 0.5;
  const trajectoriesOfLabel = isKnown ? effective_trajectories / count : 1;
  const effect = isKnown ? count / trialsWithin(rate, critical(effective_trajectories), half) : 1;
  const isEnough = (labels: number) =>
    halfWidth(rate, labels / effect, critical(trajectoriesOfLabel * labels)) <= aim;
  let [below, enough] = [count, Math.max(2, 2 * count)];
  while (!isEnough(enough) && enough < most) [below, enough] = [enough, 2 * enough];
  while (enough - below > 1) {
    const middle = Math.floor((below + enough) / 2);
    if (isEnough(middle)) enough = middle;
    else below = middle;
  }
  return { half_width: aim, count: enough - count };
}

const critical = (trajectories: number) => tQuantile(0.975, trajectories - 1);

function halfWidth(rate: number, trials: number, t: number): number {
  const { lower, upper } = wilsonBounds(rate, trials, t);
  return (upper - lower) / 2;
}

/** The number of trials at which Wilson's interval has this half width. */
function trialsWithin(rate: number, t: number, half: number): number {
  let [few, many] = [1e-6, 1];
  while (halfWidth(rate, many, t) > half) [few, many] = [many, 2 * many];
  for (let step = 0; step < 60; step++) {
    const middle = (few + many) / 2;
    if (halfWidth(rate, middle, t) > half) few = middle;
    else many = middle;
  }
  return many;
}
