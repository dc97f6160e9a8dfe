import type { RealityCheckSource, RealityCheckStatus } from "@presage/contract";
import type { Flag, Micros } from "../columns.ts";

/** How simulated episodes end in reality. */
export interface RealityTables {
  reality_checks: RealityChecksTable;
  reality_episodes: RealityEpisodesTable;
  reality_replays: RealityReplaysTable;
  reality_steps: RealityStepsTable;
}

export interface RealityChecksTable {
  id: string;
  account_id: string;
  name: string;
  /** The environment's name, as the environment may be gone. */
  environment: string | null;
  environment_id: string | null;
  /** Null: any. */
  environment_revision: number | null;
  source: RealityCheckSource;
  /** The name of the real environment that episodes are replayed in. */
  real: string | null;
  /** JSON: the recorded trajectories that the environment plays. */
  recordings: string | null;
  status: RealityCheckStatus;
  /** Why the check is paused. */
  reason: string | null;
  /** For a continuous check: it has looked at the episodes that ended before this time. */
  drawn_until: Micros | null;
  false_success_limit: number | null;
  /** The number of its rows in `reality_episodes`. */
  episodes: number;
  created_by: string;
  created_at: Micros;
  /** The run of its steps up to the first divergence, once requested. It may be deleted. */
  run_id: string | null;
  /** The run of all steps. */
  whole_run_id: string | null;
}

/** How one episode ended in simulation and in reality. */
export interface RealityEpisodesTable {
  check_id: string;
  /** From 1. */
  position: number;
  task_id: string;
  episode_id: string | null;
  policy: string | null;
  simulated: Flag;
  real: Flag;
  replayed: Flag | null;
  simulated_reward: number | null;
  real_reward: number | null;
  /** The number of compared steps; null if only the outcomes are known. */
  steps: number | null;
  /** The first step whose observation differs. */
  diverged_at: number | null;
  /** JSON: the first words or tools of its actions. */
  verbs: string | null;
  /** Null if checked by a version that did not store the time. */
  checked_at: Micros | null;
}

/** An episode that is still to be replayed, or could not be. Once it is replayed, a row in `reality_episodes` takes its place. */
export interface RealityReplaysTable {
  check_id: string;
  position: number;
  /** Null for an episode that is made from a trajectory. */
  episode_id: string | null;
  trajectory_id: string | null;
  /** Why it could not be replayed; null if it still has to be. */
  error: string | null;
}

/** The course of an episode in the real environment. Step 0 is the observation before the first action. */
export interface RealityStepsTable {
  check_id: string;
  position: number;
  step: number;
  action: string;
  observation: string;
  reward: number | null;
  done: Flag;
  latency_micros: number | null;
}
