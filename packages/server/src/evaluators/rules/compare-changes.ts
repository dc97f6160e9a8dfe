import { f1Score } from "./f1-score.ts";
import { type Multiset, overlapOf, sizeOf, subtract } from "./multiset.ts";

/** The lines of a state, or its fields with their values: before an action, after it, and as the output tells it. */
export interface States {
  before: Multiset;
  gold: Multiset;
  output: Multiset;
}

export interface ChangeComparison {
  /** F1 of the changes. */
  score: number;
  /** Number of changes; a line or field that replaces another is one. */
  changed: number;
  right: number;
  missed: number;
  wrong: number;
  /** Added, but not in the output. */
  missing: Multiset;
  /** Removed, but still in the output. */
  stale: Multiset;
  /** In the output, but neither in the state before nor in the gold answer. */
  invented: Multiset;
  /** Unchanged, but not in the output. */
  dropped: Multiset;
}

/**
 * Compares the change from the state before to the gold answer with the change from there to the output.
 *
 * Where lines were added, removed ones earn nothing: otherwise any new text would be half right wherever one observation
 * replaces another. A wrong line in place of an added one, or an old line kept in its place, is one mistake.
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

/** How similar two states are as a whole: the F1 of all their lines or fields. */
export function stateOverlap(one: Multiset, other: Multiset): number {
  if (one.size === 0 && other.size === 0) return 1;
  return f1Score(overlapOf(one, other), sizeOf(one), sizeOf(other)).f1;
}
