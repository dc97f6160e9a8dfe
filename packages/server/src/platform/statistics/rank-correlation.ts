import { setImmediate as nextTurn } from "node:timers/promises";
import type { RealityFigure } from "@presage/contract";
import { jackknifeError, leaveOneOutError } from "./intervals.ts";
import { figureOfTasks, type MadeOf, madeOf } from "./outcome-pairs.ts";

/** Kendall's τ-b of two orders (M. G. Kendall 1945). NaN if one of them ranks nothing. */
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

/** How far two rewards are from each other: the mean of their distance by episode, and the correlation of their ranks. */
export async function rewardFigures(
  pairs: readonly RewardPair[],
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
    spearman: await spearmanFigure(tasks, made),
  };
}

/** Ranks that are made anew, of all parts together: a tenth of a second. */
const mostWork = 5_000_000;
const fewestParts = 20;
const partsAtOnce = 10;

/**
 * Spearman's ρ: the correlation of ranks, ties at their mean (C. Spearman 1904). The jackknife ranks anew without each task; tasks are
 * joined to fewer parts where that would take too long.
 */
async function spearmanFigure(tasks: readonly RewardPair[][], made: MadeOf): Promise<RealityFigure> {
  const pairs = tasks.flat();
  const parts = Math.min(tasks.length, Math.max(fewestParts, Math.floor(mostWork / pairs.length)));
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

/** Values with their indexes in ascending order, and their ranks, which are made anew each time. */
function rankable(pairs: readonly RewardPair[], side: "simulated" | "real") {
  const values = Float64Array.from(pairs, (pair) => pair[side]);
  const order = Int32Array.from(values.keys()).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  return { values, order, ranks: new Float64Array(values.length) };
}
type Rankable = ReturnType<typeof rankable>;

/** Of the ranks of what is in other parts. NaN if all of it is the same on one side. */
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

/** Ranks what is in other parts. Returns how many that are. */
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
