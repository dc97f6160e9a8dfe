import { setImmediate as nextTurn } from "node:timers/promises";
import { mersenne } from "pure-rand/generator/mersenne";

/** Predictions with a confidence and a verdict, in any order. There may be a million. */
export interface JudgedConfidences {
  /** From 0 to 1. */
  confidences: Float64Array;
  /** 1 where the verdict is a pass. */
  right: Uint8Array;
  /** The trajectory of each prediction, numbered from 0 without gaps. */
  trajectories: Int32Array;
}

/** The same predictions, the least confident first. A place is an index into this order. */
export interface SortedConfidences extends JudgedConfidences {
  count: number;
  clusters: number;
  /** For each place, where the predictions of the same confidence start, and the place after the last of them. */
  tieStarts: Int32Array;
  tieEnds: Int32Array;
  /** The sums before each place, and at the end the sums of all. */
  rightBefore: Float64Array;
  confidenceBefore: Float64Array;
}

/** Sorting is split into this many ranges, so that other work gets a turn. */
const ranges = 4_096;
const placesAtOnce = 50_000;

export async function sortConfidences(judged: JudgedConfidences): Promise<SortedConfidences> {
  const order = await orderOf(judged.confidences);
  await nextTurn();
  const count = order.length;
  const confidences = new Float64Array(count);
  const right = new Uint8Array(count);
  const trajectories = new Int32Array(count);
  const rightBefore = new Float64Array(count + 1);
  const confidenceBefore = new Float64Array(count + 1);
  let clusters = 0;
  for (let place = 0; place < count; place++) {
    const index = order[place] ?? 0;
    const confidence = judged.confidences[index] ?? 0;
    const isRight = judged.right[index] ?? 0;
    const trajectory = judged.trajectories[index] ?? 0;
    confidences[place] = confidence;
    right[place] = isRight;
    trajectories[place] = trajectory;
    rightBefore[place + 1] = (rightBefore[place] ?? 0) + isRight;
    confidenceBefore[place + 1] = (confidenceBefore[place] ?? 0) + confidence;
    clusters = Math.max(clusters, trajectory + 1);
  }
  await nextTurn();
  const ties = tiesOf(confidences);
  return { count, clusters, confidences, right, trajectories, ...ties, rightBefore, confidenceBefore };
}

/** The indexes by ascending confidence: put into ranges of confidences, and each range sorted. */
export async function orderOf(confidences: Float64Array): Promise<Int32Array> {
  const rangeOf = (index: number) => Math.min(ranges - 1, Math.floor((confidences[index] ?? 0) * ranges));
  const { members, starts } = groupBy(confidences.length, ranges, rangeOf);
  await nextTurn();
  let sorted = 0;
  for (let range = 0; range < ranges; range++) {
    const some = members.subarray(starts[range], starts[range + 1]);
    const first = confidences[some[0] ?? 0];
    if (some.some((index) => confidences[index] !== first))
      some.sort((a, b) => (confidences[a] ?? 0) - (confidences[b] ?? 0));
    sorted += some.length;
    if (sorted < placesAtOnce) continue;
    sorted = 0;
    await nextTurn();
  }
  return members;
}

function tiesOf(confidences: Float64Array): Pick<SortedConfidences, "tieStarts" | "tieEnds"> {
  const count = confidences.length;
  const tieStarts = new Int32Array(count);
  const tieEnds = new Int32Array(count);
  for (let place = 0; place < count; place++) {
    const isTied = place > 0 && confidences[place] === confidences[place - 1];
    tieStarts[place] = isTied ? (tieStarts[place - 1] ?? 0) : place;
  }
  for (let place = count - 1; place >= 0; place--) {
    const isTied = place < count - 1 && confidences[place] === confidences[place + 1];
    tieEnds[place] = isTied ? (tieEnds[place + 1] ?? 0) : place + 1;
  }
  return { tieStarts, tieEnds };
}

/** Numbers by group: the members of a group run from its start to the next group's, ascending. */
export interface Groups {
  members: Int32Array;
  starts: Int32Array;
}

function groupBy(count: number, groups: number, groupOf: (member: number) => number): Groups {
  const starts = new Int32Array(groups + 1);
  for (let member = 0; member < count; member++) {
    const next = groupOf(member) + 1;
    starts[next] = (starts[next] ?? 0) + 1;
  }
  for (let group = 0; group < groups; group++) {
    starts[group + 1] = (starts[group + 1] ?? 0) + (starts[group] ?? 0);
  }
  const members = new Int32Array(count);
  const next = starts.slice();
  for (let member = 0; member < count; member++) {
    const group = groupOf(member);
    const place = next[group] ?? 0;
    members[place] = member;
    next[group] = place + 1;
  }
  return { members, starts };
}

/** The places of each trajectory, or of several trajectories together so that there are this many groups. */
export function placesToLeaveOut({ count, trajectories }: SortedConfidences, groups: number): Groups {
  return groupBy(count, groups, (place) => (trajectories[place] ?? 0) % groups);
}

const bins = 15;
/** Any seed will do; the same seed gives the same figure. */
const drawSeed = 1;
const mostDraws = 1_000;
const fewestDraws = 20;
/** Numbers drawn in total: a second's work. */
const drawnInAll = 30_000_000;
const drawnAtOnce = 500_000;

const nowhere = new Int32Array(0);

/**
 * The starts of the bins of equal count, and the end of the last: a prediction is in bin ⌊15 · r / n⌋, where r predictions have a lower
 * confidence, so equal confidences are never split. `left` has the places that are left out, ascending.
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

/** The number of indexes, from 0 on, for which a condition holds that fails from some index on. */
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

/** The calibration error without each group of places in turn, with the bins recomputed. */
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
 * The mean calibration error of verdicts that are drawn with the confidences as probabilities, which is never 0: 1,000 seeded draws,
 * and fewer for more than 30,000 predictions.
 */
export async function expectedCalibrationError(
  sorted: SortedConfidences,
  some: readonly Bin[],
): Promise<number> {
  const { count, confidences } = sorted;
  const draws = Math.max(fewestDraws, Math.min(mostDraws, Math.floor(drawnInAll / count)));
  const random = mersenne(drawSeed);
  // A drawn number below its limit is a pass; numbers are below 2^32.
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
