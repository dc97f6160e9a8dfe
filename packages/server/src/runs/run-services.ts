import type { RoomForBytes } from "../platform/limits/memory.ts";
import type { BackgroundTurns } from "../platform/limits/turns.ts";
import type { Tracing } from "../platform/observability/tracing.ts";
import type { WriteWork } from "./runner/evaluate-step.ts";
import type { PredictStep } from "./runner/predict-step.ts";

/** What runs need beside what evaluations need. */
export interface RunServices {
  readonly predict: PredictStep;
  readonly writeWork: WriteWork;
  /** Steps take one before each piece of work, so that live requests come first. */
  readonly turns: BackgroundTurns;
  /** For the texts of steps in progress. */
  readonly room: RoomForBytes;
  /** Whether there is a deployment of this name now. */
  hasDeployment(name: string): boolean;
  /** Says how little room the disk has, if that is too little for a run. */
  findShortage(): Promise<string | undefined>;
  /** Traces a process's work on a run. Absent: there are no traces. */
  readonly startSpan?: Tracing["startRun"];
  /** The version of Presage, which runs record. */
  readonly version: string;
  /** Looks for work at once: a run was created, resumed, cancelled or paused. */
  wake(): void;
}
