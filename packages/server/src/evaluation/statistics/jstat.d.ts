/** What of jstat is used here; it has no types of its own. */
declare module "jstat" {
  export const studentt: {
    /** The value that a variable of Student's t distribution is below with this probability. */
    inv(probability: number, degreesOfFreedom: number): number;
  };
}
