export interface F1Score {
  precision: number;
  recall: number;
  f1: number;
}

/** Precision and recall of the items in the output, and their harmonic mean. 0 if nothing is shared. */
export function f1Score(shared: number, said: number, wanted: number): F1Score {
  if (shared === 0) return { precision: 0, recall: 0, f1: 0 };
  return { precision: shared / said, recall: shared / wanted, f1: (2 * shared) / (said + wanted) };
}
