import type {
  EpisodeOutcome,
  EvaluationStatus,
  PredictionFailure,
  RunMode,
  RunStatus,
  TaskSplitName,
} from "@presage/contract";
import type { Generated } from "kysely";
import type { Flag, Micros } from "../columns.ts";

/** Datasets, runs, predictions and environments. */
export interface RunTables {
  datasets: DatasetsTable;
  dataset_revisions: DatasetRevisionsTable;
  dataset_samples: DatasetSamplesTable;
  dataset_payloads: DatasetPayloadsTable;
  dataset_parts: DatasetPartsTable;
  predictions: PredictionsTable;
  prediction_payloads: PredictionPayloadsTable;
  prediction_contexts: PredictionContextsTable;
  runs: RunsTable;
  goals: GoalsTable;
  run_verdicts: RunVerdictsTable;
  sample_traits: SampleTraitsTable;
  environments: EnvironmentsTable;
  environment_revisions: EnvironmentRevisionsTable;
  environment_tasks: EnvironmentTasksTable;
  episodes: EpisodesTable;
  episode_steps: EpisodeStepsTable;
  ors_sessions: OrsSessionsTable;
  worlds: WorldsTable;
  world_revisions: WorldRevisionsTable;
}

export interface WorldsTable {
  id: string;
  account_id: string;
  name: string;
  /** The latest revision's number. A world made under the name of a deleted one continues from it. */
  last_revision: number;
  archived_at: Micros | null;
  /** Null while the world exists. */
  deleted_at: Micros | null;
  created_by: string;
  created_at: Micros;
}

export interface WorldRevisionsTable {
  world_id: string;
  revision: number;
  /** JSON, as given. */
  config: string;
  /** JSON: what the config resolved to. */
  pinned: string;
  created_at: Micros;
}

export interface DatasetsTable {
  id: string;
  account_id: string;
  name: string;
  description: string | null;
  /** JSON, texts by name. */
  tags: string | null;
  /** JSON: what counts as a change of its states. */
  change: string | null;
  /** The latest revision's number; 0 before there is one. */
  last_revision: number;
  /** The user who created it. */
  created_by: string;
  created_at: Micros;
}

/** `filling`: being uploaded, invisible. `sealed`: complete. `deleted`: invisible, and its rows are being deleted. */
type DatasetRevisionState = "filling" | "sealed" | "deleted";

export interface DatasetRevisionsTable {
  id: Generated<number>;
  account_id: string;
  dataset_id: string;
  state: DatasetRevisionState;
  /** Here and below, null until it is sealed. */
  number: number | null;
  digest: string | null;
  trajectories: number | null;
  samples: number;
  /** The length of its lines when exported. */
  bytes: number;
  /** When its upload began or, for a sealed revision, when it was sealed. */
  created_at: Micros;
  /** When its upload last wrote something. */
  touched_at: Micros;
  /** JSON, as the contract has it: how its lines were made of traces. */
  import: string | null;
}

/** The columns that samples are found by. */
export interface DatasetSamplesTable {
  revision_id: number;
  /** Counts the revision's samples from 1, in the order of their lines. */
  position: number;
  trajectory_id: string;
  step: number;
  sample_id: string;
  /** The length of its line when exported. */
  bytes: number;
}

export interface DatasetPayloadsTable {
  revision_id: number;
  position: number;
  /** The part that contains the context, or the last message. */
  part: string | null;
  /** JSON: the line's fields that are in no other column. */
  body: string;
}

/** Texts that samples of a revision share, each stored once: a context, or a message after the messages before it. */
interface DatasetPartsTable {
  revision_id: number;
  /** The digest of the previous part's digest and the text. */
  digest: string;
  /** The digest of the message before this one. */
  previous: string | null;
  /** JSON. */
  text: string;
}

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
  /** A label of the agent. */
  policy: string | null;
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

/** A step's observation and cost are in its prediction, whose `run_id` is the episode's id. */
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
  /** The client's key for the request. */
  request_key: string | null;
}

/** A session of the Open Reward Standard. Its episode has the same id, once the environment is known. */
export interface OrsSessionsTable {
  id: string;
  account_id: string;
  /** JSON: the requested environment and task. */
  wanted: string;
  /** The environment's name; null if no call has named it: then there is no episode yet. */
  environment: string | null;
  /** The last step whose result was sent whole. */
  delivered_steps: number;
  created_at: Micros;
  last_used_at: Micros;
}

type RunTargetKind = "deployment" | "baseline" | "world" | "imported" | "external";

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
  /** How many of these have a prediction. */
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
  /** JSON, a list: models that the upstream named, and what the run waited for. */
  notes: string;
  /** The id of the lease of the process that works on the run, and when the lease ends. */
  lease_id: string | null;
  lease_until: Micros;
  created_by: string;
  /** The key that started it; null: a session or the command line did. */
  api_key_id: string | null;
  created_at: Micros;
  started_at: Micros | null;
  finished_at: Micros | null;
  /** JSON: figures for lists, made when the run has ended. Null: not made yet, or the target is external. */
  headline: string | null;
}

/** Goals for runs of one name. */
export interface GoalsTable {
  id: string;
  account_id: string;
  run_name: string;
  evaluator: string;
  profile_name: string | null;
  pass_rate: number;
  /** Who set it last, and when. */
  created_by: string;
  created_at: Micros;
}

/** One evaluator's outcome on one prediction of a run. */
export interface RunVerdictsTable {
  run_id: string;
  /** The evaluator's place in the run's list. */
  evaluator: number;
  /** The position of the sample in the run's revision. */
  position: number;
  repeat: number;
  status: EvaluationStatus;
  pass: Flag | null;
  score: number | null;
  /** The same evaluator's verdict on the state before the action. Set on the first repeat only, and never by a model. */
  unchanged_pass: Flag | null;
  unchanged_score: number | null;
  /** The stored evaluation result. */
  result_id: number | null;
}

/** The properties that reports group the samples of a revision by. Written when a run first reaches the sample. */
export interface SampleTraitsTable {
  revision_id: number;
  position: number;
  /** The digest of the whole sample, including its ids. */
  digest: string;
  /** The number of changes between the state and the next state; null if they cannot be compared. */
  changes: number | null;
  /** The action's first word in lower case, or the name of its first call. */
  verb: string;
  /** JSON, texts by name. */
  tags: string | null;
}

/** `live`: a client's request. */
export type PredictionSource = "live" | "run" | "episode";

/** Predictions that are kept: the columns that they are listed and counted by. */
export interface PredictionsTable {
  id: string;
  account_id: string;
  source: PredictionSource;
  created_at: Micros;
  /** The id of the run or the episode; null if live. */
  run_id: string | null;
  /** The position of the sample in the run's revision, or the episode's step. */
  position: number | null;
  repeat: number | null;
  status: "success" | "failed";
  error_category: PredictionFailure | null;
  deployment: string | null;
  /** The model as the upstream named it. */
  model: string | null;
  /** The name that was sent, under which prices are listed. Null: tokens are not counted under it, or no model was called. */
  sent_model: string | null;
  /** The address of the replica that answered, without user and query. */
  replica: string | null;
  finish_reason: string | null;
  prompt_tokens: number;
  cached_tokens: number;
  completion_tokens: number;
  latency_micros: Micros | null;
  /** How sure a world is of the prediction, from 0 to 1: as its methods say, and calibrated. */
  score: number | null;
  confidence: number | null;
  /** These two are set if live. */
  api_key_id: string | null;
  request_id: string | null;
}

/** The columns of a prediction that are only shown. */
export interface PredictionPayloadsTable {
  prediction_id: string;
  /** The digest of the context, if the prediction is live. */
  context_digest: string | null;
  /** JSON: the request without its context; for a run or an episode, whose request follows from its sample or steps, only the world. */
  request: string | null;
  output: string | null;
  reasoning: string | null;
  error_message: string | null;
}

/** Contexts of live predictions, each stored once per account. */
export interface PredictionContextsTable {
  account_id: string;
  digest: string;
  /** JSON. */
  context: string;
}
