/**
 * Holm's adjusted p-values: with the m values in ascending order, max over j ≤ i of (m − j + 1) · p_j, at most 1 (S. Holm,
 * "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of Statistics 6 (1979)). Where nothing was
 * tested, null stays null and does not count.
 */
export function holm(pValues: readonly (number | null)[]): (number | null)[] {
  const tested = pValues.flatMap((p, index) => (p === null ? [] : [{ p, index }])).sort((a, b) => a.p - b.p);
  const adjusted: (number | null)[] = pValues.map(() => null);
  let greatest = 0;
  for (const [rank, { p, index }] of tested.entries()) {
    greatest = Math.max(greatest, Math.min(1, (tested.length - rank) * p));
    adjusted[index] = greatest;
  }
  return adjusted;
}
