import { setImmediate as nextTurn } from "node:timers/promises";
import { type AgreementFigure, coefficientFigure, madeOf, whyNoInterval } from "./agreement/agreement.ts";
import { jackknifeInterval } from "./intervals.ts";

/** Two numbers of each of some things, and what they depend on each other in. */
export interface PairedNumbers {
  one: Float64Array;
  other: Float64Array;
  /** The cluster of each, numbered from 0 without gaps. */
  clusters: Int32Array;
}

/** How far two numbers of the same things are apart, and whether they rank them alike. */
export async function numberFigures(
  pairs: PairedNumbers,
): Promise<Record<"absolute_error" | "spearman", AgreementFigure>> {
  const sums: { count: number; weight: number; sum: number }[] = [];
  let [total, lowest, highest] = [0, 0, 1];
  for (const [index, one] of pairs.one.entries()) {
    const other = pairs.other[index] ?? 0;
    const cluster = pairs.clusters[index] ?? 0;
    const found = sums[cluster] ?? { count: 0, weight: 0, sum: 0 };
    sums[cluster] = found;
    found.count += 1;
    found.weight += 1;
    found.sum += Math.abs(one - other);
    total += Math.abs(one - other);
    lowest = Math.min(lowest, one, other);
    highest = Math.max(highest, one, other);
  }
  const { value, without } = await rankCorrelation(pairs);
  const same = pairs.one.length === 0 ? nothing : "One of the two rewards is always the same.";
  return {
    absolute_error: errorFigure(sums, total, highest - lowest),
    spearman: coefficientFigure(value, [...without], sums, same),
  };
}

const nothing = "No prediction says what the reward is.";

/** With the interval of a mean score: errors are shares of the range that the numbers, and 0 and 1, are in. */
function errorFigure(
  sums: readonly { count: number; weight: number; sum: number }[],
  total: number,
  range: number,
): AgreementFigure {
  const made = madeOf(sums);
  if (made.count === 0) return { value: null, interval: null, ...made, note: nothing };
  const value = total / made.count;
  const without = Float64Array.from(sums, ({ count, sum }) => (total - sum) / (made.count - count) / range);
  const { interval, why } = jackknifeInterval(value / range, without, made.effective_trajectories ?? 0);
  return {
    value,
    interval: interval && { ...interval, lower: interval.lower * range, upper: interval.upper * range },
    ...made,
    note: why && whyNoInterval[why],
  };
}

/** More clusters are left out some together: each takes a walk over all pairs. */
const mostLeftOut = 100;
const stepsAtOnce = 1_000_000;

/**
 * Spearman's rank correlation of pairs of numbers, equal ones having the mean of their ranks (C. Spearman, American Journal of
 * Psychology 15 (1904)), and the same without each cluster, or without some together. NaN where one of the two is always the same.
 */
export async function rankCorrelation({
  one,
  other,
  clusters,
}: PairedNumbers): Promise<{ value: number; without: Float64Array }> {
  const orders = [orderOf(one), orderOf(other)] as const;
  const all = clusters.reduce((most, cluster) => Math.max(most, cluster + 1), 0);
  const groups = Math.min(all, mostLeftOut);
  const ranks = [new Float64Array(one.length), new Float64Array(one.length)] as const;
  const without = (group: number) => {
    const isLeftOut = (index: number) => (clusters[index] ?? 0) % mostLeftOut === group;
    const kept = rankInto(ranks[0], one, orders[0], isLeftOut);
    rankInto(ranks[1], other, orders[1], isLeftOut);
    return correlation(ranks[0], ranks[1], kept, isLeftOut);
  };
  const value = without(-1);
  const left = new Float64Array(groups);
  for (let group = 0, steps = 0; group < groups; group++) {
    left[group] = without(group);
    steps += one.length;
    if (steps < stepsAtOnce) continue;
    steps = 0;
    await nextTurn();
  }
  return { value, without: left };
}

function orderOf(numbers: Float64Array): Int32Array {
  return Int32Array.from(numbers.keys()).sort((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0));
}

/** Writes the ranks of what is not left out, and returns how much that is. */
function rankInto(
  ranks: Float64Array,
  numbers: Float64Array,
  order: Int32Array,
  isLeftOut: (index: number) => boolean,
): number {
  let kept = 0;
  for (let start = 0, end = 0; start < order.length; start = end) {
    const value = numbers[order[start] ?? 0];
    const before = kept;
    for (; end < order.length && numbers[order[end] ?? 0] === value; end++)
      if (!isLeftOut(order[end] ?? 0)) kept += 1;
    // The mean of the ranks from before + 1 to kept.
    for (let at = start; at < end; at++) ranks[order[at] ?? 0] = (before + 1 + kept) / 2;
  }
  return kept;
}

/** Pearson's correlation of ranks, whose mean is known. */
function correlation(
  one: Float64Array,
  other: Float64Array,
  kept: number,
  isLeftOut: (index: number) => boolean,
): number {
  const mean = (kept + 1) / 2;
  let [together, ofOne, ofOther] = [0, 0, 0];
  for (let index = 0; index < one.length; index++) {
    if (isLeftOut(index)) continue;
    const [a, b] = [(one[index] ?? 0) - mean, (other[index] ?? 0) - mean];
    together += a * b;
    ofOne += a * a;
    ofOther += b * b;
  }
  if (ofOne === 0 || ofOther === 0) return Number.NaN;
  // Rounding may leave a little more than 1.
  return Math.max(-1, Math.min(1, together / Math.sqrt(ofOne * ofOther)));
}
