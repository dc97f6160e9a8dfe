import type { TargetName } from "../targets/target.ts";
import type { Scenario } from "./plan-predictions.ts";

/** One run of wrk against one target. */
export interface Sample {
  readonly target: TargetName;
  readonly scenario: Scenario;
  readonly round: number;
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Undefined if too little was used to measure in ticks of 10 ms. */
  readonly cpuUsPerRequest: number | undefined;
  /** A problem that invalidates the figure: an error, or a response that did not come from the upstream. */
  readonly problem: string | undefined;
}
