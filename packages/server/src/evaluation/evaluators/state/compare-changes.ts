import { f1Score } from "../text/f1-score.ts";
import { type Multiset, overlapOf, sizeOf, subtract } from "../text/multiset.ts";

/** What a state consists of, before and after an action and as an output tells it: lines, or fields with their values. */
export interface States {
  before: Multiset;
  gold: Multiset;
  output: Multiset;
}

export interface ChangeComparison {
  /** F1 of the changes. */
  score: number;
  /** How many changes there are; a line or field that another has replaced is one. */
  changed: number;
  right: number;
  missed: number;
  wrong: number;
  /** Came, and the output does not have it. */
  missing: Multiset;
  /** Went, and the output still has it. */
  stale: Multiset;
  /** In the output, but neither in the state before nor in the gold answer. */
  invented: Multiset;
  /** Stayed, but not in the output. */
  dropped: Multiset;
}

/**
 * Compares what changed from the state before to the gold answer with what changed from there to the output.
 *
 * What went earns nothing if something came: any new text at all would else be half right wherever an observation
 * replaces another. It costs as every mistake does. A wrong line where another should have come, or one that stayed
 * where another should have come, is one mistake. So the score is 1 for the gold answer's lines and no others, and 0
 * for a copy of the state before, unless nothing changed.
 */
export function compareChanges({ before, gold, output }: States): ChangeComparison {
  const came = subtract(gold, before);
  const went = subtract(before, gold);
  const cameInOutput = subtract(output, before);
  const wentInOutput = subtract(before, output);
  const missing = subtract(came, cameInOutput);
  const stale = subtract(went, wentInOutput);
  const invented = subtract(cameInOutput, came);
  const dropped = subtract(wentInOutput, went);
  const right = came.size > 0 ? overlapOf(came, cameInOutput) : overlapOf(went, wentInOutput);
  const missed = Math.max(sizeOf(missing), sizeOf(stale));
  const wrong = Math.max(sizeOf(invented), sizeOf(dropped));
  const isUnchangedTwice = right + missed + wrong === 0;
  return {
    score: isUnchangedTwice ? 1 : f1Score(right, right + wrong, right + missed).f1,
    changed: Math.max(sizeOf(came), sizeOf(went)),
    right,
    missed,
    wrong,
    missing,
    stale,
    invented,
    dropped,
  };
}

/** How far two states are the same, changed or not: F1 over all that they consist of. */
export function stateOverlap(one: Multiset, other: Multiset): number {
  if (one.size === 0 && other.size === 0) return 1;
  return f1Score(overlapOf(one, other), sizeOf(one), sizeOf(other)).f1;
}
