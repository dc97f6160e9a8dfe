/** A stretch of time, and the steps in which it is reported. Hours are counted since 1970-01-01 UTC. */
export interface UsagePeriod {
  /** Where a step begins. */
  fromHour: number;
  /** The first hour that is not counted any more. */
  untilHour: number;
  hoursPerStep: number;
}
