import { setImmediate as nextTurn } from "node:timers/promises";

/** Turns the raw scores of a prediction, one per method, into a probability that it is right. */
export type Calibration =
  | ({ kind: "isotonic" /** Combines several scores into one first. */; combined?: Logistic } & Table)
  | ({ kind: "logistic" } & Logistic);

/** A curve that is linear between its points and level beyond them. */
interface Table {
  /** Ascending. */
  x: number[];
  y: number[];
}

/** A probability from a linear function of the scores' logits. */
interface Logistic {
  weights: number[];
  bias: number;
}

export interface CalibrationSample {
  /** One score per method, from 0 to 1. */
  scores: readonly number[];
  isRight: boolean;
  trajectory: string;
}

/** With fewer, nothing is fitted. */
const fewestCalibrated = 50;
/** A curve of any form needs more samples than two parameters do. */
const fewestForCurve = { samples: 200, trajectories: 20 };
/** Scores nearer to 0 or 1 are moved here before the logit is taken: agreement of five samples is often exactly 1. */
const nearestToEnds = 1e-3;
/** Keeps weights finite if methods agree, or all scores are equal. With 50 samples it moves them by less than a thousandth. */
const ridge = 1e-3;
const mostNewtonSteps = 100;
/** The error left by a step this short is its square, too small to show in the loss. */
const lastNewtonStep = 1e-5;
/** A few milliseconds of the main thread, then other work has its turn. There may be a million samples. */
const samplesAtOnce = 20_000;

/**
 * Fits a calibration: isotonic regression from 200 samples of 20 trajectories on, otherwise Platt's two parameters. Several methods are
 * first combined by logistic regression of their logits. Undefined for fewer than 50 samples.
 */
export async function fitCalibration(
  samples: readonly CalibrationSample[],
): Promise<Calibration | undefined> {
  if (samples.length < fewestCalibrated) return undefined;
  const targets = samples.map(({ isRight }) => (isRight ? 1 : 0));
  const trajectories = new Set(samples.map(({ trajectory }) => trajectory)).size;
  const hasCurve = samples.length >= fewestForCurve.samples && trajectories >= fewestForCurve.trajectories;
  const areSeveral = (samples[0]?.scores.length ?? 0) > 1;
  if (hasCurve && !areSeveral) {
    const scores = samples.map((sample) => sample.scores[0] ?? 0);
    return { kind: "isotonic", ...(await fitIsotonic(scores, targets)) };
  }
  const rows = await mapInTurns(samples, ({ scores }) => scores.map(logit));
  const logistic = await fitLogistic(rows, smoothed(targets));
  if (!hasCurve) return { kind: "logistic", ...logistic };
  const combined = await mapInTurns(samples, ({ scores }) => applyLogistic(logistic, scores));
  return { kind: "isotonic", combined: logistic, ...(await fitIsotonic(combined, targets)) };
}

/** The calibrated probability that a prediction with these scores is right. */
export function calibrate(calibration: Calibration, scores: readonly number[]): number {
  if (calibration.kind === "logistic") return applyLogistic(calibration, scores);
  const { combined } = calibration;
  const score = combined === undefined ? (scores[0] ?? 0) : applyLogistic(combined, scores);
  return applyTable(calibration, score);
}

/**
 * Isotonic least squares by pool adjacent violators (R. E. Barlow et al., "Statistical Inference under Order Restrictions", 1972): equal
 * scores become one point, falling blocks are joined, and each block keeps its ends.
 */
export async function fitIsotonic(scores: readonly number[], targets: readonly number[]): Promise<Table> {
  // Loaded on demand: predictions only apply a calibration.
  const { orderOf } = await import("./calibration-error.ts");
  const order = await orderOf(Float64Array.from(scores));
  await nextTurn();
  const blocks: { first: number; last: number; sum: number; weight: number }[] = [];
  const meanOf = ({ sum, weight }: { sum: number; weight: number }) => sum / weight;
  for (let start = 0; start < order.length; ) {
    const x = scores[order[start] ?? 0] ?? 0;
    const block = { first: x, last: x, sum: 0, weight: 0 };
    for (; start < order.length && scores[order[start] ?? 0] === x; start++) {
      block.sum += targets[order[start] ?? 0] ?? 0;
      block.weight += 1;
    }
    for (let before = blocks.at(-1); before && meanOf(before) >= meanOf(block); before = blocks.at(-1)) {
      block.first = before.first;
      block.sum += before.sum;
      block.weight += before.weight;
      blocks.pop();
    }
    blocks.push(block);
  }
  const ends = blocks.flatMap((block) => {
    const y = meanOf(block);
    return block.first === block.last
      ? [[block.first, y]]
      : [
          [block.first, y],
          [block.last, y],
        ];
  });
  return { x: ends.map(([x]) => x ?? 0), y: ends.map(([, y]) => y ?? 0) };
}

/** The curve at a score, on the line between the two points around it. */
export function applyTable({ x, y }: Table, score: number): number {
  const at = (index: number) => ({ x: x[index] ?? 0, y: y[index] ?? 0 });
  let [low, high] = [0, x.length - 1];
  if (score <= at(low).x) return at(low).y;
  if (score >= at(high).x) return at(high).y;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (at(middle).x <= score) low = middle;
    else high = middle;
  }
  const [from, to] = [at(low), at(high)];
  return from.y + ((to.y - from.y) * (score - from.x)) / (to.x - from.x);
}

/** Targets moved slightly inside 0 and 1, so that no weight grows without bound (J. Platt, "Probabilistic Outputs for Support Vector Machines", 1999). */
function smoothed(targets: readonly number[]): number[] {
  const right = targets.reduce((sum, target) => sum + target, 0);
  const wrong = targets.length - right;
  return targets.map((target) => (target === 1 ? (right + 1) / (right + 2) : 1 / (wrong + 2)));
}

/** Logistic regression by Newton's method, halving steps that overshoot; the weights have a ridge, the bias none. */
export async function fitLogistic(
  rows: readonly (readonly number[])[],
  targets: readonly number[],
): Promise<Logistic> {
  const size = (rows[0]?.length ?? 0) + 1;
  const withOne = await mapInTurns(rows, (row) => [...row, 1]);
  const mean = targets.reduce((sum, target) => sum + target, 0) / targets.length;
  let parameters = Array.from({ length: size }, (_, index) => (index === size - 1 ? logit(mean) : 0));
  let loss = await lossOf(withOne, targets, parameters);
  for (let steps = 0; steps < mostNewtonSteps; steps++) {
    const step = await newtonStep(withOne, targets, parameters);
    const moved = (share: number) => parameters.map((value, index) => value - share * (step[index] ?? 0));
    if (Math.hypot(...step) < lastNewtonStep) {
      parameters = moved(1);
      break;
    }
    for (let share = 1; share > Number.EPSILON; share /= 2) {
      const next = moved(share);
      const nextLoss = await lossOf(withOne, targets, next);
      if (nextLoss > loss) continue;
      [parameters, loss] = [next, nextLoss];
      break;
    }
  }
  return { weights: parameters.slice(0, -1), bias: parameters.at(-1) ?? 0 };
}

/** The Hessian's inverse times the gradient. */
async function newtonStep(
  rows: readonly (readonly number[])[],
  targets: readonly number[],
  parameters: readonly number[],
): Promise<number[]> {
  const size = parameters.length;
  const isWeight = (index: number) => index < size - 1;
  /** The Hessian, with the gradient as its last column. */
  const system = parameters.map((value, i) =>
    Array.from({ length: size + 1 }, (_, j) => {
      if (!isWeight(i)) return 0;
      return j === size ? ridge * value : i === j ? ridge : 0;
    }),
  );
  for (const [index, row] of rows.entries()) {
    if (isTurnOfOthers(index)) await nextTurn();
    const probability = sigmoid(product(row, parameters));
    const error = probability - (targets[index] ?? 0);
    const weight = probability * (1 - probability);
    for (const [i, equation] of system.entries()) {
      const value = row[i] ?? 0;
      for (let j = 0; j < size; j++) equation[j] = (equation[j] ?? 0) + weight * value * (row[j] ?? 0);
      equation[size] = (equation[size] ?? 0) + error * value;
    }
  }
  return solve(system);
}

/** Solves linear equations, whose right-hand sides are the last column, by elimination with the largest pivot. */
function solve(system: number[][]): number[] {
  const size = system.length;
  for (let column = 0; column < size; column++) {
    const rest = system.slice(column);
    const pivot = rest.reduce((a, b) => (Math.abs(b[column] ?? 0) > Math.abs(a[column] ?? 0) ? b : a));
    system.splice(system.indexOf(pivot), 1);
    system.splice(column, 0, pivot);
    for (const equation of system) {
      if (equation === pivot) continue;
      const factor = (equation[column] ?? 0) / (pivot[column] ?? 1);
      for (let j = column; j <= size; j++) equation[j] = (equation[j] ?? 0) - factor * (pivot[j] ?? 0);
    }
  }
  return system.map((equation, index) => (equation[size] ?? 0) / (equation[index] ?? 1));
}

/** The cross entropy of the targets, plus the ridge. */
async function lossOf(
  rows: readonly (readonly number[])[],
  targets: readonly number[],
  parameters: readonly number[],
): Promise<number> {
  const squares = parameters.slice(0, -1).reduce((sum, weight) => sum + weight * weight, 0);
  let sum = (ridge / 2) * squares;
  for (const [index, row] of rows.entries()) {
    if (isTurnOfOthers(index)) await nextTurn();
    const linear = product(row, parameters);
    // ln(1 + e^linear), without overflow.
    const total = Math.max(linear, 0) + Math.log1p(Math.exp(-Math.abs(linear)));
    sum += total - (targets[index] ?? 0) * linear;
  }
  return sum;
}

async function mapInTurns<Item, Result>(items: readonly Item[], map: (item: Item) => Result) {
  const mapped: Result[] = [];
  for (const [index, item] of items.entries()) {
    if (isTurnOfOthers(index)) await nextTurn();
    mapped.push(map(item));
  }
  return mapped;
}

function isTurnOfOthers(index: number): boolean {
  return index % samplesAtOnce === samplesAtOnce - 1;
}

function applyLogistic({ weights, bias }: Logistic, scores: readonly number[]): number {
  return sigmoid(bias + product(scores.map(logit), weights));
}

function product(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

function logit(score: number): number {
  const clipped = Math.min(1 - nearestToEnds, Math.max(nearestToEnds, score));
  return Math.log(clipped / (1 - clipped));
}

function sigmoid(linear: number): number {
  return 1 / (1 + Math.exp(-linear));
}
