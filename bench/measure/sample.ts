import type { Scenario } from "../plan.ts";
import type { TargetName } from "../targets/target.ts";

/** One run of wrk against one target. */
export interface Sample {
  readonly target: TargetName;
  readonly scenario: Scenario;
  readonly round: number;
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Undefined where too little was used for ticks of 10 ms to tell. */
  readonly cpuUsPerRequest: number | undefined;
  /** Whatever makes the figure worthless: an error, or an answer that the upstream did not give. */
  readonly problem: string | undefined;
}
