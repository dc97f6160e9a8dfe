import type { EpisodesTable } from "../../platform/storage/schema/environments.ts";
import type { StepResult } from "../episodes/step-episode.ts";

/** What became of a call: a step; an episode that ended because its next step could not be predicted; or why there is no step. */
export type CallOutcome =
  | { kind: "step"; result: StepResult }
  | { kind: "failed"; episode: EpisodesTable }
  | { kind: "refused"; message: string };

/** A call for which this process is taking a step. */
export interface RunningCall {
  sessionId: string;
  action: string;
  taskId: string;
  outcome: Promise<CallOutcome>;
}
