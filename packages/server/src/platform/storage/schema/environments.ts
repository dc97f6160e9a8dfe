import type { EpisodeOutcome, TaskSplitName } from "@presage/contract";
import type { Flag } from "../flag.ts";
import type { Micros } from "../micros.ts";

export interface EnvironmentsTable {
  id: string;
  account_id: string;
  name: string;
  /** The latest revision's number. */
  last_revision: number;
  /** JSON: the number of tasks by split. */
  tasks: string;
  created_by: string;
  created_at: Micros;
}

export interface EnvironmentRevisionsTable {
  environment_id: string;
  revision: number;
  /** JSON, as given. */
  config: string;
  created_at: Micros;
}

export interface EnvironmentTasksTable {
  environment_id: string;
  split: TaskSplitName;
  /** From 0. */
  position: number;
  /** JSON. */
  task: string;
}

export interface EpisodesTable {
  id: string;
  account_id: string;
  environment_id: string;
  /** The environment's name. */
  environment: string;
  revision: number;
  split: TaskSplitName;
  /** -1: the task came with the request that started the episode. */
  position: number;
  /** JSON: a copy of the task. */
  task: string;
  seed: number | null;
  /** An open episode that is idle for some time expires. */
  status: "open" | "finished";
  outcome: EpisodeOutcome | null;
  stop_reason: string | null;
  /** Why the prediction of its next step failed, if that ended the episode. */
  error: string | null;
  steps: number;
  /** The sum of the rewards; null without any. */
  reward: number | null;
  /** How often a step could not be predicted. */
  failed_steps: number;
  api_key_id: string | null;
  created_at: Micros;
  last_active_at: Micros;
}

/** A step's observation and what it cost are in its prediction, whose `run_id` is the episode's id. */
export interface EpisodeStepsTable {
  episode_id: string;
  /** From 1. */
  step: number;
  action: string;
  reward: number | null;
  /** Why the evaluator gave no reward. */
  reward_error: string | null;
  terminated: Flag;
  truncated: Flag;
  /** What the client called the request. */
  request_key: string | null;
}

/** A session of the Open Reward Standard. Its episode has the same id, once the environment is known. */
export interface OrsSessionsTable {
  id: string;
  account_id: string;
  /** JSON: the requested environment and task. */
  wanted: string;
  /** The environment's name; null: no call has named it. Then there is no episode yet. */
  environment: string | null;
  /** The last step whose result was sent whole. */
  delivered_steps: number;
  created_at: Micros;
  last_used_at: Micros;
}
