/** The part of jstat used here; it has no types of its own. */
declare module "jstat" {
  export const studentt: {
    /** The quantile of Student's t distribution. */
    inv(probability: number, degreesOfFreedom: number): number;
  };
}
