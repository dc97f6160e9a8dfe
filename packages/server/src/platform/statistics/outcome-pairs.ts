import { setImmediate as nextTurn } from "node:timers/promises";
import type { RealityFigure, RealityFigures } from "@presage/contract";
import {
  cells,
  cohenKappa,
  createPairs,
  less,
  type PairCluster,
  type PairTable,
  pairCoefficient,
  shareFigure,
  sumOf,
  totalOf,
} from "./agreement.ts";
import { overallSigns, pairedDifference } from "./differences.ts";
import {
  type ClusteredFigure,
  effectiveClusters,
  jackknifeError,
  jackknifeInterval,
  leaveOneOutError,
  momentsOfClusters,
  rounding,
  tQuantile,
  whyNoInterval,
} from "./intervals.ts";

/** Kendall's τ-b of two orders (M. G. Kendall 1945). NaN if one of them has only ties. */
export function kendallTau(values: readonly (readonly [one: number, other: number])[]): number {
  let [concordant, onlyOne, onlyOther] = [0, 0, 0];
  for (const [at, [a, b]] of values.entries())
    for (const [c, d] of values.slice(at + 1)) {
      concordant += Math.sign(a - c) * Math.sign(b - d);
      if (a !== c) onlyOne += 1;
      if (b !== d) onlyOther += 1;
    }
  return onlyOne === 0 || onlyOther === 0 ? Number.NaN : concordant / Math.sqrt(onlyOne * onlyOther);
}

/** The rewards of an episode. */
export interface RewardPair {
  task: string;
  simulated: number;
  real: number;
}

const noRewards = "No episode has a reward in both.";

/** How far simulated and real rewards differ: their mean distance by episode, and the correlation of their ranks. For one of many groups, `shareOfWork` is less than 1. */
export async function rewardFigures(
  pairs: readonly RewardPair[],
  shareOfWork = 1,
): Promise<{ absolute_error: RealityFigure; spearman: RealityFigure }> {
  const tasks = [...Map.groupBy(pairs, ({ task }) => task).values()];
  const made = madeOf(tasks.map(({ length }) => length));
  const distances = tasks.map((ofTask) => ({
    count: ofTask.length,
    sum: ofTask.reduce((sum, { simulated, real }) => sum + Math.abs(simulated - real), 0),
  }));
  const value = distances.reduce((all, { sum }) => all + sum, 0) / pairs.length;
  const error = jackknifeError(distances) ?? Number.NaN;
  return {
    absolute_error: figureOfTasks({
      value,
      error,
      made,
      range: [0, Number.POSITIVE_INFINITY],
      why: noRewards,
    }),
    spearman: await spearmanFigure(tasks, made, mostWork * shareOfWork),
  };
}

/** Ranks recomputed, over all parts together: a tenth of a second. */
const mostWork = 5_000_000;
const fewestParts = 20;
const partsAtOnce = 10;

/**
 * Spearman's ρ: the correlation of ranks, ties at their mean (C. Spearman 1904). The jackknife recomputes the ranks without each task;
 * tasks are joined into fewer parts where that would take too long.
 */
async function spearmanFigure(
  tasks: readonly RewardPair[][],
  made: MadeOf,
  work: number,
): Promise<RealityFigure> {
  const pairs = tasks.flat();
  const parts = Math.min(tasks.length, Math.max(fewestParts, Math.floor(work / pairs.length)));
  const partOf = Int32Array.from(tasks.flatMap((ofTask, task) => ofTask.map(() => task % parts)));
  const [one, other] = [rankable(pairs, "simulated"), rankable(pairs, "real")];
  const without = new Float64Array(parts);
  for (let part = 0; part < parts; part += 1) {
    without[part] = correlation(one, other, partOf, part);
    if (part % partsAtOnce === partsAtOnce - 1) await nextTurn();
  }
  const value = correlation(one, other, partOf, -1);
  const why = pairs.length === 0 ? noRewards : "All rewards are the same on one side.";
  return figureOfTasks({ value, error: leaveOneOutError(without), made, range: [-1, 1], why });
}

/** Values with their indexes in ascending order, and their ranks, which are recomputed each time. */
function rankable(pairs: readonly RewardPair[], side: "simulated" | "real") {
  const values = Float64Array.from(pairs, (pair) => pair[side]);
  const order = Int32Array.from(values.keys()).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  return { values, order, ranks: new Float64Array(values.length) };
}
type Rankable = ReturnType<typeof rankable>;

/** The correlation of the ranks of values in the other parts. NaN if all of these are equal on one side. */
function correlation(one: Rankable, other: Rankable, partOf: Int32Array, left: number): number {
  const middle = (rank(one, partOf, left) + 1) / 2;
  rank(other, partOf, left);
  let [squares, otherSquares, products] = [0, 0, 0];
  for (let index = 0; index < partOf.length; index += 1) {
    if (partOf[index] === left) continue;
    const [x, y] = [(one.ranks[index] ?? 0) - middle, (other.ranks[index] ?? 0) - middle];
    squares += x * x;
    otherSquares += y * y;
    products += x * y;
  }
  return squares === 0 || otherSquares === 0 ? Number.NaN : products / Math.sqrt(squares * otherSquares);
}

/** Ranks the values in the other parts. Returns how many there are. */
function rank({ values, order, ranks }: Rankable, partOf: Int32Array, left: number): number {
  let ranked = 0;
  for (let at = 0; at < order.length; ) {
    const value = values[order[at] ?? 0];
    let [end, tied] = [at, 0];
    for (; end < order.length && values[order[end] ?? 0] === value; end += 1)
      if (partOf[order[end] ?? 0] !== left) tied += 1;
    for (; at < end; at += 1) ranks[order[at] ?? 0] = ranked + (tied + 1) / 2;
    ranked += tied;
  }
  return ranked;
}

/** How one episode ended in simulation, and in the real environment. */
export interface OutcomePair {
  task: string;
  policy: string | null;
  simulated: boolean;
  real: boolean;
  /** Whether replaying the simulated actions in the real environment succeeded, if `real` is from acting there instead. */
  replayed?: boolean | undefined;
}

type Figures = Pick<
  RealityFigures,
  "false_success_rate" | "missed_success_rate" | "agreement" | "bias" | "phi" | "cohen_kappa"
>;

/** Figures of episodes, clustered by their tasks. */
export interface PairFigures extends Figures {
  counts: PairTable;
}

export const fewestTasks = 6;
const tooFew = "Too few tasks: an interval takes 6.";
const allAlike = "All tasks differ alike, which does not show how far others would.";
const noEpisodes = "There are no episodes.";
const alwaysTheSame = "One of the two outcomes is always the same.";
const oneTask = "One task has most of the episodes.";
const hasNoLogarithm =
  "The ratio is 0, or would be without one of the tasks, and the interval is that of its logarithm.";
const undefinedWithout = "Without one of the tasks, the figure is not defined.";

/** The 2×2 table of simulated and real success. */
export async function pairFigures(pairs: readonly OutcomePair[]): Promise<PairFigures> {
  const clusters = clustersOf(pairs);
  return {
    counts: sumOf(clusters.map(({ counts }) => counts)),
    false_success_rate: share(
      clusters,
      { hit: ["onlyFirst"], of: ["onlyFirst", "bothPass"] },
      "No episode succeeded in simulation.",
    ),
    missed_success_rate: share(
      clusters,
      { hit: ["onlySecond"], of: ["onlySecond", "bothFail"] },
      "No episode failed in simulation.",
    ),
    agreement: share(clusters, { hit: ["bothPass", "bothFail"], of: cells }, noEpisodes),
    bias: await bias(pairs),
    phi: ofTasks(pairCoefficient(clusters, phi), alwaysTheSame),
    cohen_kappa: ofTasks(pairCoefficient(clusters, cohenKappa), alwaysTheSame),
  };
}

function share(
  clusters: readonly PairCluster[],
  { hit, of }: Record<"hit" | "of", readonly (keyof PairTable)[]>,
  why: string,
): RealityFigure {
  const figure = shareFigure(clusters, { hit, of, why, isWeighted: false });
  return ofTasks(figure, why);
}

function clustersOf(pairs: readonly OutcomePair[]): PairCluster[] {
  const table = createPairs();
  for (const { task, simulated, real } of pairs) table.add(task, { first: simulated, second: real });
  return table.end();
}

/** A figure that counts tasks as its trajectories, under the names for tasks. */
function ofTasks(
  { trajectories, effective_trajectories, ...figure }: ClusteredFigure,
  why: string,
): RealityFigure {
  const made = { ...figure, tasks: trajectories, effective_tasks: effective_trajectories };
  if (figure.value === null) return { ...made, note: why };
  if (trajectories < fewestTasks) return { ...made, interval: null, note: tooFew };
  return { ...made, note: figure.note?.replaceAll("trajectories", "tasks") ?? null };
}

/** The correlation of two verdicts (K. Pearson 1900). NaN if one of them is always the same. */
function phi({ bothPass, onlyFirst, onlySecond, bothFail }: PairTable): number {
  const margins =
    (bothPass + onlyFirst) * (onlySecond + bothFail) * (bothPass + onlySecond) * (onlyFirst + bothFail);
  return margins === 0 ? Number.NaN : (bothPass * bothFail - onlyFirst * onlySecond) / Math.sqrt(margins);
}

const seed = 1;

async function bias(pairs: readonly OutcomePair[]): Promise<RealityFigure> {
  const clusters = [...Map.groupBy(pairs, ({ task }) => task).values()].map((ofTask) => ({
    count: ofTask.length,
    sum: ofTask.reduce((sum, { simulated, real }) => sum + Number(simulated) - Number(real), 0),
  }));
  const { difference, interval } = await pairedDifference(clusters, overallSigns, seed);
  const note = clusters.length < fewestTasks ? tooFew : allAlike;
  return {
    value: difference,
    interval,
    ...madeOf(clusters.map((one) => one.count)),
    note: difference === null ? noEpisodes : interval === null ? note : null,
  };
}

export type MadeOf = Pick<RealityFigure, "count" | "tasks" | "effective_tasks">;

/** The sample sizes of a figure, from the number of episodes of each task. */
export function madeOf(sizes: readonly number[]): MadeOf {
  const moments = momentsOfClusters(sizes.map((count) => ({ count, sum: 0 })));
  const { clusters: tasks, count } = moments;
  return { count, tasks, effective_tasks: tasks === 0 ? null : effectiveClusters(moments) };
}

interface Estimate {
  /** NaN: undefined. */
  value: number;
  /** The standard error; NaN: undefined. */
  error: number;
  made: MadeOf;
  range?: readonly [lowest: number, highest: number];
  /** The note if there is no value. */
  why: string;
}

/** A figure whose interval is ± t of G* − 1 degrees of freedom times its standard error, within its range. */
export function figureOfTasks({ value, error, made, range, why }: Estimate): RealityFigure {
  if (Number.isNaN(value)) return { value: null, interval: null, ...made, note: why };
  const without = (note: string) => ({ value, interval: null, ...made, note });
  if (made.tasks < fewestTasks) return without(tooFew);
  if (!Number.isFinite(error)) return without(undefinedWithout);
  if (error < rounding) return without(allAlike);
  const reach = tQuantile(0.975, (made.effective_tasks ?? 1) - 1) * error;
  const [lowest, highest] = range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  const interval = {
    level: 0.95,
    lower: Math.max(lowest, value - reach),
    upper: Math.min(highest, value + reach),
  };
  if (!Number.isFinite(interval.upper - interval.lower)) return without(oneTask);
  return { value, interval, ...made, note: null };
}

/**
 * How often actions chosen in simulation work in reality, compared with acting in reality: W2R and the consistency ratio (Word2World, arXiv
 * 2512.18832). The ratio's interval is ± t times the jackknife's error by task of its logarithm. Undefined without replays.
 */
export function consistencyOf(
  all: readonly OutcomePair[],
): NonNullable<RealityFigures["consistency"]> | undefined {
  const pairs = all.filter(({ replayed }) => replayed !== undefined);
  if (pairs.length === 0) return undefined;
  const table = createPairs();
  for (const { task, real, replayed } of pairs) table.add(task, { first: replayed === true, second: real });
  const clusters = table.end();
  const replayed = share(clusters, { hit: ["bothPass", "onlyFirst"], of: cells }, noEpisodes);
  const real = share(clusters, { hit: ["bothPass", "onlySecond"], of: cells }, noEpisodes);
  return { replayed, real, ratio: ratioOfClusters(clusters) };
}

/** Shares of policies, added up. */
type SharesOfPolicies = [policies: number, replayed: number, real: number];

/** The same figures as means over policies, so that each counts equally however many episodes it has. Undefined for fewer than two. */
export function macroConsistencyOf(all: readonly OutcomePair[]): ReturnType<typeof consistencyOf> {
  const pairs = all.filter(({ policy, replayed }) => policy !== null && replayed !== undefined);
  const policies = new Map(
    [...Map.groupBy(pairs, ({ policy }) => policy)].map(([of, its]) => [of, countsOf(its)]),
  );
  if (policies.size < 2) return undefined;
  const total: SharesOfPolicies = [0, 0, 0];
  for (const counts of policies.values()) addShares(total, counts, 1);
  const tasks = [...Map.groupBy(pairs, ({ task }) => task).values()];
  const without = tasks.map((ofTask) => {
    const rest: SharesOfPolicies = [...total];
    for (const [policy, its] of Map.groupBy(ofTask, (pair) => pair.policy)) {
      const counts = policies.get(policy) ?? noCounts;
      const less = countsOf(its);
      addShares(rest, counts, -1);
      addShares(
        rest,
        {
          count: counts.count - less.count,
          replayed: counts.replayed - less.replayed,
          real: counts.real - less.real,
        },
        1,
      );
    }
    return rest;
  });
  const made = madeOf(tasks.map(({ length }) => length));
  const mean = (side: 1 | 2) => {
    const value = total[side] / total[0];
    const leftOut = Float64Array.from(without, (rest) => rest[side] / rest[0]);
    const { interval, why } = jackknifeInterval(value, leftOut, made.effective_tasks ?? 0);
    const { tasks: trajectories, effective_tasks: effective_trajectories, count } = made;
    const figure = { value, interval, count, trajectories, effective_trajectories };
    return ofTasks({ ...figure, note: why && whyNoInterval[why] }, noEpisodes);
  };
  // Subtracting shares again may leave a rounding error in place of 0.
  const exact = (sum: number) => (Math.abs(sum) < rounding ? 0 : sum);
  const ratios = Float64Array.from(without, ([, replayed, real]) => exact(replayed) / exact(real));
  return { replayed: mean(1), real: mean(2), ratio: ratioFigure(total[1] / total[2], ratios, made) };
}

const noCounts = { count: 0, replayed: 0, real: 0 };

function countsOf(pairs: readonly OutcomePair[]): typeof noCounts {
  const counts = { ...noCounts, count: pairs.length };
  for (const { replayed, real } of pairs) {
    counts.replayed += Number(replayed);
    counts.real += Number(real);
  }
  return counts;
}

function addShares(sum: SharesOfPolicies, { count, replayed, real }: typeof noCounts, sign: 1 | -1): void {
  if (count === 0) return;
  sum[0] += sign;
  sum[1] += (sign * replayed) / count;
  sum[2] += (sign * real) / count;
}

function ratioOfClusters(clusters: readonly PairCluster[]): RealityFigure {
  const all = sumOf(clusters.map(({ counts }) => counts));
  const ratio = (table: PairTable) =>
    (table.bothPass + table.onlyFirst) / (table.bothPass + table.onlySecond);
  const without = Float64Array.from(clusters, ({ counts }) => ratio(less(all, counts)));
  return ratioFigure(ratio(all), without, madeOf(clusters.map(({ counts }) => totalOf(counts, cells))));
}

/** A ratio, and its values without each task. */
function ratioFigure(ratio: number, without: Float64Array, made: MadeOf): RealityFigure {
  const value = Number.isFinite(ratio) ? ratio : Number.NaN;
  const { interval, ...figure } = figureOfTasks({
    value: Math.log(value),
    error: leaveOneOutError(without.map(Math.log)),
    made,
    why: "Nothing succeeded in the real environment.",
  });
  const shown = { ...figure, value: figure.value === null ? null : value };
  if (made.tasks >= fewestTasks && without.includes(0))
    return { ...shown, interval: null, note: hasNoLogarithm };
  if (interval === null) return { ...shown, interval };
  const [lower, upper] = [Math.exp(interval.lower), Math.exp(interval.upper)];
  if (!Number.isFinite(upper)) return { ...shown, interval: null, note: oneTask };
  return { ...shown, interval: { ...interval, lower, upper } };
}
