import type { EvaluationStatus, ExplainStrategy } from "@presage/contract";
import type { Generated } from "kysely";
import type { Flag, Micros } from "../columns.ts";

/** Results and their counts. */
export interface ResultTables {
  projects: ProjectsTable;
  evaluation_clock: EvaluationClockTable;
  evaluation_times: EvaluationTimesTable;
  /** See `evaluation_count_deltas`. */
  evaluation_time_deltas: EvaluationTimesTable;
  evaluation_results: EvaluationResultsTable;
  evaluation_payloads: EvaluationPayloadsTable;
  evaluation_tags: EvaluationTagsTable;
  evaluation_corrections: EvaluationCorrectionsTable;
  evaluation_labels: EvaluationLabelsTable;
  label_samples: LabelSamplesTable;
  label_sample_items: LabelSampleItemsTable;
  result_deletions: ResultDeletionsTable;
  evaluation_series: EvaluationSeriesTable;
  evaluation_counts: EvaluationCountsTable;
  /**
   * Rows to add to `evaluation_counts`: on PostgreSQL writers only append here, so that they never wait for each other, and the
   * rows are added to the counts shortly after. Readers sum both. Empty on SQLite, where writers take turns anyway.
   */
  evaluation_count_deltas: EvaluationCountsTable;
  evaluation_total_counts: EvaluationTotalCountsTable;
  evaluation_tag_progress: EvaluationTagProgressTable;
  evaluation_tag_names: EvaluationTagNamesTable;
  evaluation_tag_values: EvaluationTagValuesTable;
  evaluation_tag_series: EvaluationTagSeriesTable;
  evaluation_tag_counts: EvaluationTagCountsTable;
  error_finding_counts: ErrorFindingCountsTable;
  /** See `evaluation_count_deltas`. */
  error_finding_count_deltas: ErrorFindingCountsTable;
}

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
  /** Whether the output is the gold answer, ignoring white space at the ends. Null: written before 0.2; the texts have to be compared. */
  is_equal: Flag | null;
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
  /** The profile of the result. */
  profile_public_id: string | null;
  user_id: string;
  pass: Flag;
  score: number | null;
  comment: string | null;
  created_at: Micros;
}

/** People's labels of outputs, one per person and result. */
export interface EvaluationLabelsTable {
  id: string;
  account_id: string;
  result_id: number;
  /** The user whose label it is; null if the annotator was named. One of the two is set. */
  user_id: string | null;
  annotator: string | null;
  pass: Flag;
  score: number | null;
  /** The correction that the label set, and which goes with it. */
  correction_id: string | null;
  created_at: Micros;
}

/** Verdicts that were drawn to be labelled. */
export interface LabelSamplesTable {
  id: string;
  account_id: string;
  run_id: string;
  evaluator_id: string;
  is_external: Flag;
  profile_name: string | null;
  design: "uniform" | "verdict";
  seed: number;
  /** Verdicts whose output equals the gold answer. */
  left_out: number;
  /** JSON: how many verdicts of each kind there were, and with which probability one was drawn. */
  strata: string;
  created_by: string;
  created_at: Micros;
}

export interface LabelSampleItemsTable {
  sample_id: string;
  /** In the order of the draw, from 0. */
  position: number;
  result_id: number;
  probability: number;
}

/**
 * On SQLite one row, the last result's number and time, locked by the writer. On PostgreSQL numbers come from a sequence, and
 * this is a view for processes of the previous version.
 */
interface EvaluationClockTable {
  last_id: number;
  last_created_at: Micros;
}

/** The earliest and latest times of results whose numbers are in a range. The interval may be too wide, never too narrow. */
export interface EvaluationTimesTable {
  /** The numbers divided by `numbersPerStretch`. */
  stretch: number;
  earliest: Micros;
  latest: Micros;
}

/**
 * Results that are counted together: everything that a summary can filter and group by, except the day. Each result is in two
 * series, one of its run and one of all runs: runs are many, and most summaries are not about them.
 */
export interface EvaluationSeriesTable {
  id: string;
  account_id: string;
  app: string;
  evaluator_id: string;
  /** Here and below, an empty text or 0 means none. */
  evaluator_family: string;
  profile_name: string;
  profile_public_id: string;
  profile_revision: number;
  /** 1: results with and without a run are counted; `run_id` is empty. */
  spans_runs: Flag;
  run_id: string;
}

/** A result's verdict, or why it has none. `none` is a success without a pass. */
export type CountedVerdict = "pass" | "fail" | "none" | Exclude<EvaluationStatus, "success">;

/** Results of a series on one day, by verdict and score: the rollup that summaries read. */
export interface EvaluationCountsTable {
  series_id: string;
  /** Days since 1970-01-01 UTC. */
  day: number;
  verdict: CountedVerdict;
  /** In thousandths, rounded; -1 without a score. */
  score_mille: number;
  count: number;
  score_sum: number;
  score_sum_of_squares: number;
}

/**
 * An account's results of one day over all series. On PostgreSQL, what is not merged yet is missing. Only triggers on `evaluation_counts`
 * write it, so that processes of the version before count in it as well.
 */
interface EvaluationTotalCountsTable extends Omit<EvaluationCountsTable, "series_id"> {
  account_id: string;
}

/** One row: the number up to which results are counted by tag. It only moves forward, unless everything is counted again. */
interface EvaluationTagProgressTable {
  up_to: number;
}

/** Every name of a tag among the results that are counted by tag. */
interface EvaluationTagNamesTable {
  account_id: string;
  name: string;
  /** If the name has too many values to count further: the last result that was counted. Otherwise null. */
  counted_up_to: number | null;
}

/** The tags that are counted. */
interface EvaluationTagValuesTable {
  id: Generated<number>;
  account_id: string;
  name: string;
  value: string;
}

/** Results with the same tag that are counted together, with and without a run. */
interface EvaluationTagSeriesTable
  extends Omit<EvaluationSeriesTable, "id" | "account_id" | "spans_runs" | "run_id"> {
  id: Generated<number>;
  tag_id: number;
}

/** Results of such a series by day, by the evaluator's verdict and by its score: corrections are not included. */
interface EvaluationTagCountsTable extends Omit<EvaluationCountsTable, "series_id"> {
  series_id: number;
}

/** How often an account's evaluations against a revision of an error taxonomy found each kind of error, by day. */
export interface ErrorFindingCountsTable {
  account_id: string;
  revision_id: string;
  /** Days since 1970-01-01 UTC. */
  day: number;
  /** A digest of the path, which may be too long for a key. */
  path_id: string;
  /** JSON, the names from the root down. The empty path counts the evaluations themselves, with or without errors. */
  path: string;
  count: number;
}

export interface ProjectsTable {
  id: string;
  account_id: string;
  name: string;
  /** The user who created it. */
  created_by: string;
  created_at: Micros;
}

/** Deletions of an account's results by a filter, which are carried out in the background. */
export interface ResultDeletionsTable {
  id: string;
  account_id: string;
  /** JSON: the results that match. */
  filter: string;
  /** How many results matched at the time of the request. */
  matched: number;
  /** Results up to this number have been dealt with. */
  after_id: number;
  /** Results that were stored later stay. */
  up_to_id: number;
  deleted: number;
  /** The user who requested it. */
  created_by: string;
  created_at: Micros;
  finished_at: Micros | null;
}
