/** The part of cephes used here. It has types, but its package.json does not say where. */
declare module "cephes" {
  /** The probability that Student's t is at most `t`. */
  export function stdtr(degreesOfFreedom: number, t: number): number;
  /** Its quantile. */
  export function stdtri(degreesOfFreedom: number, probability: number): number;
}
