import { setImmediate as nextTurn } from "node:timers/promises";
import type { ComparisonCandidate } from "@presage/contract";
import { countRepeats, createTally, type Outcomes } from "../report/read-outcomes.ts";

const samplesAtOnce = 50_000;

/** One evaluator's values of a run, by the index of the reference's samples. NaN where there is none. */
export interface Values {
  readonly score: Float64Array;
  readonly pass: Float64Array;
  /** Of samples with a value or a failure, which scores 0 and does not pass. */
  readonly scoreWithFailures: Float64Array;
  readonly passWithFailures: Float64Array;
}

/** What is compared: scores, or verdicts where none of the runs has a score. */
export interface Measured {
  readonly measure: ComparisonCandidate["measure"];
  value(values: Values): Float64Array;
  withFailures(values: Values): Float64Array;
}

export function measureOf(all: readonly Values[]): Measured {
  return all.some(({ score }) => score.some((value) => !Number.isNaN(value)))
    ? { measure: "score", value: ({ score }) => score, withFailures: (of) => of.scoreWithFailures }
    : { measure: "pass_rate", value: ({ pass }) => pass, withFailures: (of) => of.passWithFailures };
}

/** A sample's value is the mean of its repeats. */
export async function valuesOf(outcomes: Outcomes, indexes: Int32Array): Promise<Values> {
  const none = () => new Float64Array(indexes.length).fill(Number.NaN);
  const values = { score: none(), pass: none(), scoreWithFailures: none(), passWithFailures: none() };
  const tally = createTally();
  for (let index = 0; index < indexes.length; index++) {
    if (index % samplesAtOnce === 0) await nextTurn();
    const own = indexes[index] ?? -1;
    if (own < 0) continue;
    countRepeats(outcomes, own, tally);
    const { judged, passed, failed } = tally;
    const score = outcomes.scores[own] ?? 0;
    const graded = outcomes.graded[own] ?? 0;
    if (graded + failed > 0) values.scoreWithFailures[index] = score / (graded + failed);
    if (judged + failed > 0) values.passWithFailures[index] = passed / (judged + failed);
    if (graded > 0) values.score[index] = score / graded;
    if (judged > 0) values.pass[index] = passed / judged;
  }
  return values;
}

/** The indexes of samples that all have a value of, in this order. */
export function indexesOfAll(order: Int32Array, all: readonly Float64Array[]): Int32Array {
  const found = new Int32Array(order.length);
  let count = 0;
  for (const index of order) {
    // A sum with NaN is NaN.
    let sum = 0;
    for (const values of all) sum += values[index] ?? Number.NaN;
    if (Number.isNaN(sum)) continue;
    found[count] = index;
    count += 1;
  }
  return found.subarray(0, count);
}

export function meanOf(values: Float64Array, indexes: Int32Array): number | null {
  if (indexes.length === 0) return null;
  let sum = 0;
  for (const index of indexes) sum += values[index] ?? 0;
  return sum / indexes.length;
}

/** How many samples one has a value of, and the other has not. */
export function countOnlyIn(one: Float64Array, other: Float64Array): number {
  let count = 0;
  for (let index = 0; index < one.length; index++) {
    if (!Number.isNaN(one[index]) && Number.isNaN(other[index])) count += 1;
  }
  return count;
}
