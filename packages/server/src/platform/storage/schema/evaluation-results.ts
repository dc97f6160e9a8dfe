import type { EvaluationStatus, ExplainStrategy } from "@presage/contract";
import type { Flag } from "../flag.ts";
import type { Micros } from "../micros.ts";

/** The columns that results are searched and listed by. Only `counted_…` and `score_mille` ever change, by a correction. */
export interface EvaluationResultsTable {
  id: number;
  account_id: string;
  created_at: Micros;
  app: string;
  evaluator_id: string;
  evaluator_family: string | null;
  profile_name: string | null;
  profile_public_id: string | null;
  profile_revision: number | null;
  status: EvaluationStatus;
  explain_strategy: ExplainStrategy;
  dataset_id: string | null;
  run_id: string | null;
  project_id: string | null;
  experiment_id: string | null;
  /** Puts results in the order of their samples. */
  sample_key: string | null;
  is_external: Flag;
  /** The evaluator's verdict. */
  pass: Flag | null;
  score: number | null;
  /** The verdict that counts: the latest correction's, otherwise the evaluator's. */
  counted_pass: Flag | null;
  counted_score: number | null;
  /** `counted_score` in thousandths, rounded: the resolution of searches and summaries. */
  score_mille: number | null;
  /** The client's key that makes this evaluation happen once. */
  request_key: string | null;
  /** The same for all results of one trajectory, otherwise of one sample; null if the result names neither. */
  cluster_id: number | null;
}

/** The columns of a result that are only shown. */
export interface EvaluationPayloadsTable {
  result_id: number;
  system_prompt: string | null;
  /** JSON, a list of texts. */
  retrieved_context: string | null;
  input: string | null;
  output: string | null;
  gold_answer: string | null;
  error_message: string | null;
  explanation: string | null;
  evaluation_micros: number | null;
  explanation_micros: number | null;
  /** JSON: positions, extra, confidence_interval. */
  additional_info: string | null;
  /** JSON, a number or a text. */
  dataset_sample_id: string | null;
  run_project_id: string | null;
  /** JSON: id, name, provider, params, selected_model of the evaluated model. */
  evaluated_model: string | null;
  /** JSON, texts by name. */
  tags: string | null;
}

export interface EvaluationTagsTable {
  account_id: string;
  name: string;
  value: string;
  result_id: number;
}

/** People's corrections of results; the latest one of a result counts. */
export interface EvaluationCorrectionsTable {
  id: string;
  result_id: number;
  account_id: string;
  /** The result's. */
  profile_public_id: string | null;
  user_id: string;
  pass: Flag;
  score: number | null;
  comment: string | null;
  created_at: Micros;
}

/**
 * On SQLite one row, the last result's number and time, locked by the writer. On PostgreSQL numbers come from a sequence, and
 * this is a view for processes of the previous version.
 */
export interface EvaluationClockTable {
  last_id: number;
  last_created_at: Micros;
}

/** The times between which the results of a range of numbers lie. The interval may be too wide, never too narrow. */
export interface EvaluationTimesTable {
  /** The numbers divided by `numbersPerStretch`. */
  stretch: number;
  earliest: Micros;
  latest: Micros;
}
