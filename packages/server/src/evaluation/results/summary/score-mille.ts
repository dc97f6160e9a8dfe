/** A score in thousandths, rounded: the grain in which scores are counted and looked up. */
export function toMille(score: number): number {
  return Math.round(score * 1000);
}
