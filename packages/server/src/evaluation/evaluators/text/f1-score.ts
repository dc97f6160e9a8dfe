export interface F1Score {
  precision: number;
  recall: number;
  f1: number;
}

/** Precision and recall of what was said, by how much of it was wanted, and their harmonic mean. 0 where nothing is shared. */
export function f1Score(shared: number, said: number, wanted: number): F1Score {
  if (shared === 0) return { precision: 0, recall: 0, f1: 0 };
  return { precision: shared / said, recall: shared / wanted, f1: (2 * shared) / (said + wanted) };
}
