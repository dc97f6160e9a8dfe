import { distributionsLibrary } from "../lazy-libraries.ts";

// Cephes (S. L. Moshier, "Methods and Programs for Mathematical Functions", 1989). Within 4e-10 of scipy's figures up to a million degrees
// of freedom, which is what intervals that are exact to 1e-9 need.

/** The quantile of Student's t distribution. */
export function tQuantile(probability: number, degreesOfFreedom: number): number {
  return distributionsLibrary().stdtri(degreesOfFreedom, probability);
}

/** The probability that |T| is at least |t|. */
export function tTwoSided(t: number, degreesOfFreedom: number): number {
  if (!Number.isFinite(t)) return 0;
  return 2 * distributionsLibrary().stdtr(degreesOfFreedom, -Math.abs(t));
}
