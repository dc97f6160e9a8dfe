import { distributionsLibrary } from "../lazy-libraries.ts";

/** Below this, cephes' beta integral underflows, and any interval is all of its range anyway. */
const fewestDegrees = 0.01;

/**
 * The quantile of Student's t distribution for a probability over ½. The degrees of freedom may be a fraction, which cephes' own
 * `stdtri` cuts off, so it is made of the inverse of the incomplete beta integral (S. L. Moshier, "Methods and Programs for
 * Mathematical Functions", 1989). Within 4e-10 of scipy's figures up to a million degrees of freedom.
 */
export function tQuantile(probability: number, degreesOfFreedom: number): number {
  if (degreesOfFreedom < fewestDegrees) return Number.POSITIVE_INFINITY;
  const x = distributionsLibrary().incbi(degreesOfFreedom / 2, 0.5, 2 * (1 - probability));
  return Math.sqrt((degreesOfFreedom * (1 - x)) / x);
}
