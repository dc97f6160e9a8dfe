export { describeP, formatPoints } from "@presage/contract/describe-runs";

/** A p-value; small ones as a bound. */
export function formatP(p: number | null): string {
  if (p === null) return "–";
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}
