/** +3.1, or −3.1: a difference of scores or shares in percentage points. */
export function formatPoints(difference: number | null): string {
  if (difference === null) return "–";
  const points = (Math.abs(difference) * 100).toFixed(1);
  if (points === "0.0") return points;
  return `${difference < 0 ? "−" : "+"}${points}`;
}

/** A p-value; small ones as a bound. */
export function formatP(p: number | null): string {
  if (p === null) return "–";
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

/** “p = 0.012”, or “p < 0.001” */
export function describeP(p: number): string {
  return p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;
}
