import { setImmediate as nextTurn } from "node:timers/promises";
import { mersenne } from "pure-rand/generator/mersenne";
import type { Groups, SortedConfidences } from "./sorted-confidences.ts";

const bins = 15;
/** Any will do; the same one gives the same figure. */
const drawSeed = 1;
const mostDraws = 1_000;
const fewestDraws = 20;
/** Numbers drawn in all: a second's work. */
const drawnInAll = 30_000_000;
const drawnAtOnce = 500_000;

const nowhere = new Int32Array(0);

/**
 * Where the bins of equal count begin, and the last one ends: a prediction is in bin ⌊15 · r / n⌋, r being how many have a lower confidence,
 * so that those of one confidence are never apart. `left` has the places that are left out, ascending.
 */
function binEdges({ count, tieStarts, tieEnds }: SortedConfidences, left: Int32Array, edges: Int32Array) {
  const kept = count - left.length;
  edges[0] = 0;
  edges[bins] = count;
  for (let bin = 1; bin < bins; bin++) {
    const rank = Math.ceil((bin * kept) / bins);
    if (rank >= kept) {
      edges[bin] = count;
      continue;
    }
    // The place with this rank among those kept.
    const place = rank + countWhere(left.length, (index) => (left[index] ?? 0) - index <= rank);
    const start = tieStarts[place] ?? 0;
    const lower = start - countWhere(left.length, (index) => (left[index] ?? 0) < start);
    edges[bin] = lower >= rank ? start : (tieEnds[place] ?? 0);
  }
}

/** How many indexes from 0 on a condition holds for that holds up to one of them. */
function countWhere(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A bin: its places, and sums over them. */
export interface Bin {
  from: number;
  to: number;
  count: number;
  right: number;
  confidence: number;
}

/** The bins that are not empty. */
export function binsOf(sorted: SortedConfidences): Bin[] {
  const edges = new Int32Array(bins + 1);
  binEdges(sorted, nowhere, edges);
  const { rightBefore, confidenceBefore } = sorted;
  const between = (sums: Float64Array, from: number, to: number) => (sums[to] ?? 0) - (sums[from] ?? 0);
  return Array.from({ length: bins }, (_, bin) => {
    const [from, to] = [edges[bin] ?? 0, edges[bin + 1] ?? 0];
    const right = between(rightBefore, from, to);
    return { from, to, count: to - from, right, confidence: between(confidenceBefore, from, to) };
  }).filter(({ count }) => count > 0);
}

/** The expected calibration error: Σ n_b/N · |pass rate − mean confidence| over bins (M. P. Naeini et al., AAAI 2015). */
export function calibrationErrorOf(some: readonly Bin[]): number {
  const count = some.reduce((sum, bin) => sum + bin.count, 0);
  return some.reduce((sum, { right, confidence }) => sum + Math.abs(right - confidence), 0) / count;
}

/** The calibration error without each group of places, its bins made anew. */
export async function calibrationErrorsWithout(
  sorted: SortedConfidences,
  { members, starts }: Groups,
): Promise<Float64Array> {
  const { count, rightBefore, confidenceBefore, right, confidences } = sorted;
  const errors = new Float64Array(starts.length - 1);
  const edges = new Int32Array(bins + 1);
  for (let group = 0; group < errors.length; group++) {
    const left = members.subarray(starts[group], starts[group + 1]);
    binEdges(sorted, left, edges);
    let sum = 0;
    for (let bin = 0, next = 0; bin < bins; bin++) {
      const [from, to] = [edges[bin] ?? 0, edges[bin + 1] ?? 0];
      let gap = (rightBefore[to] ?? 0) - (rightBefore[from] ?? 0);
      gap -= (confidenceBefore[to] ?? 0) - (confidenceBefore[from] ?? 0);
      for (; next < left.length && (left[next] ?? 0) < to; next++) {
        const place = left[next] ?? 0;
        gap -= (right[place] ?? 0) - (confidences[place] ?? 0);
      }
      sum += Math.abs(gap);
    }
    errors[group] = sum / (count - left.length);
    if (group % 2_000 === 1_999) await nextTurn();
  }
  return errors;
}

/**
 * The mean calibration error of verdicts that are drawn as the confidences say, which is never 0: 1,000 seeded draws, and fewer of more
 * than 30,000 predictions.
 */
export async function expectedCalibrationError(
  sorted: SortedConfidences,
  some: readonly Bin[],
): Promise<number> {
  const { count, confidences } = sorted;
  const draws = Math.max(fewestDraws, Math.min(mostDraws, Math.floor(drawnInAll / count)));
  const random = mersenne(drawSeed);
  // A number below 2^32 that is below this is a pass.
  const limits = Float64Array.from(confidences, (confidence) => confidence * 2 ** 32);
  let sum = 0;
  let drawn = 0;
  for (let draw = 0; draw < draws; draw++) {
    for (const { from, to, confidence } of some) {
      let right = 0;
      for (let place = from; place < to; place++) {
        if (random.next() >>> 0 < (limits[place] ?? 0)) right += 1;
      }
      sum += Math.abs(right - confidence);
    }
    drawn += count;
    if (drawn < drawnAtOnce) continue;
    drawn = 0;
    await nextTurn();
  }
  return sum / draws / count;
}
