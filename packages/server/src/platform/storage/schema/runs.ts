import type { EvaluationStatus, RunMode, RunStatus } from "@presage/contract";
import type { Flag } from "../flag.ts";
import type { Micros } from "../micros.ts";

export type RunTargetKind = "deployment" | "baseline" | "imported" | "external";

export interface RunsTable {
  id: string;
  account_id: string;
  name: string;
  /** `deleted`: invisible, and its rows are being deleted. */
  status: RunStatus | "deleted";
  /** Why it is paused or failed, for people. */
  status_reason: string | null;
  /** Who resumes it when it is paused. */
  paused_by: "user" | "deployment" | null;
  target_kind: RunTargetKind;
  /** JSON: the target as the API has it. */
  target: string;
  mode: RunMode;
  /** JSON. */
  params: string | null;
  /** JSON: the evaluators with their profiles' revisions, in order. Only ever appended to. */
  evaluators: string;
  repeats: number;
  concurrency: number;
  /** JSON, texts by name. */
  tags: string | null;
  /** These three are null if its target is external. */
  dataset_id: string | null;
  revision_id: number | null;
  revision: number | null;
  /** The project of an external run. */
  project_id: string | null;
  /** JSON, of an external run. */
  metadata: string | null;
  /** Samples times repeats. */
  samples: number;
  /** How many of them have a prediction. */
  predicted: number;
  /** How many have an outcome of every evaluator, or will have none. */
  evaluated: number;
  /** How many have no prediction or lack a verdict, because something failed. */
  failed: number;
  /** How many have no prediction, which is a part of `failed`. */
  unpredicted: number;
  /** Answers cut off by the token limit, empty ones, and verdicts on repaired ones. Null: not counted. */
  truncated: number | null;
  empty: number | null;
  repaired: number | null;
  /** JSON: calls that failed and were tried again. Null: not counted. */
  tries: string | null;
  /** JSON: versions, digests and the like, as they were when it started. */
  provenance: string;
  /** JSON, a list: models that the upstream named, and what was waited for. */
  notes: string;
  /** The process that works on it has put its lease's id here, and until when it holds. */
  lease_id: string | null;
  lease_until: Micros;
  created_by: string;
  /** The key that started it; null: a session or the command line did. */
  api_key_id: string | null;
  created_at: Micros;
  started_at: Micros | null;
  finished_at: Micros | null;
}

/** One evaluator's outcome on one prediction of a run. */
export interface RunVerdictsTable {
  run_id: string;
  /** The evaluator's place in the run's list. */
  evaluator: number;
  /** The sample's, in the run's revision. */
  position: number;
  repeat: number;
  status: EvaluationStatus;
  pass: Flag | null;
  score: number | null;
  /** The same evaluator's verdict on the state before the action. On the first repeat only, and not from a model. */
  unchanged_pass: Flag | null;
  unchanged_score: number | null;
  /** The stored evaluation result. */
  result_id: number | null;
}

/** What reports group the samples of a revision by. Written when a run first reaches the sample. */
export interface SampleTraitsTable {
  revision_id: number;
  position: number;
  /** Of the whole sample, its ids included. */
  digest: string;
  /** The number of changes between the state and the next state; null if they cannot be compared. */
  changes: number | null;
  /** The action's first word in lower case, or the name of its first call. */
  verb: string;
  /** JSON, texts by name. */
  tags: string | null;
}
