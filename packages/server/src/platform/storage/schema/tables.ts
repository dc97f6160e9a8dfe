import type { Kysely } from "kysely";
import type { Micros } from "../columns.ts";
import type {
  AccountsTable,
  ApiKeysTable,
  AuditEventsTable,
  ClosedAccountsTable,
  PredictionContextsTable,
  PredictionPayloadsTable,
  PredictionsTable,
  SessionsTable,
  SignInTokensTable,
  UsageCountsTable,
  UsageLatenciesTable,
  UsageModelTokensTable,
  UsersTable,
} from "./accounts.ts";
import type {
  ErrorTaxonomiesTable,
  ErrorTaxonomyLabelsTable,
  ErrorTaxonomyRevisionsTable,
  EvaluatorProfileRevisionsTable,
  EvaluatorProfilesTable,
} from "./evaluators.ts";
import type {
  ErrorFindingCountsTable,
  EvaluationClockTable,
  EvaluationCorrectionsTable,
  EvaluationCountsTable,
  EvaluationPayloadsTable,
  EvaluationResultsTable,
  EvaluationSeriesTable,
  EvaluationTagCountsTable,
  EvaluationTagNamesTable,
  EvaluationTagProgressTable,
  EvaluationTagSeriesTable,
  EvaluationTagsTable,
  EvaluationTagValuesTable,
  EvaluationTimesTable,
  EvaluationTotalCountsTable,
  ProjectsTable,
} from "./results.ts";
import type {
  DatasetPartsTable,
  DatasetPayloadsTable,
  DatasetRevisionsTable,
  DatasetSamplesTable,
  DatasetsTable,
  EnvironmentRevisionsTable,
  EnvironmentsTable,
  EnvironmentTasksTable,
  EpisodeStepsTable,
  EpisodesTable,
  OrsSessionsTable,
  RunsTable,
  RunVerdictsTable,
  SampleTraitsTable,
} from "./runs.ts";

/** Which process does what only one does at a time. */
export interface LeasesTable {
  name: string;
  holder: string;
  until: Micros;
}

/** Deletions of an account's results by a filter, which are worked off in the background. */
export interface ResultDeletionsTable {
  id: string;
  account_id: string;
  /** JSON: the results that match. */
  filter: string;
  /** How many there were at the request. */
  matched: number;
  /** Results up to this number are dealt with. */
  after_id: number;
  /** Results that were stored later stay. */
  up_to_id: number;
  deleted: number;
  /** The user who requested it. */
  created_by: string;
  created_at: Micros;
  finished_at: Micros | null;
}

/** Requests with an `Idempotency-Key`, remembered for a day. */
export interface IdempotentRequestsTable {
  /** A digest of the caller, the operation and the key. */
  id: string;
  /** A digest of the rest of the request. */
  request_digest: string;
  /** What the response is rebuilt from: JSON, or the name of an import. */
  receipt: string;
  created_at: Micros;
}

/** Values that all processes on the database share: secrets that are created once, the addresses of running servers, and what they saw of the clock. */
export interface SettingsTable {
  name: string;
  value: string;
}

export interface Tables {
  settings: SettingsTable;
  idempotent_requests: IdempotentRequestsTable;
  audit_events: AuditEventsTable;
  leases: LeasesTable;
  accounts: AccountsTable;
  closed_accounts: ClosedAccountsTable;
  users: UsersTable;
  api_keys: ApiKeysTable;
  sessions: SessionsTable;
  sign_in_tokens: SignInTokensTable;
  error_taxonomies: ErrorTaxonomiesTable;
  error_taxonomy_revisions: ErrorTaxonomyRevisionsTable;
  error_taxonomy_labels: ErrorTaxonomyLabelsTable;
  evaluator_profiles: EvaluatorProfilesTable;
  evaluator_profile_revisions: EvaluatorProfileRevisionsTable;
  projects: ProjectsTable;
  datasets: DatasetsTable;
  dataset_revisions: DatasetRevisionsTable;
  dataset_samples: DatasetSamplesTable;
  dataset_payloads: DatasetPayloadsTable;
  dataset_parts: DatasetPartsTable;
  predictions: PredictionsTable;
  prediction_payloads: PredictionPayloadsTable;
  prediction_contexts: PredictionContextsTable;
  runs: RunsTable;
  run_verdicts: RunVerdictsTable;
  sample_traits: SampleTraitsTable;
  environments: EnvironmentsTable;
  environment_revisions: EnvironmentRevisionsTable;
  environment_tasks: EnvironmentTasksTable;
  episodes: EpisodesTable;
  episode_steps: EpisodeStepsTable;
  ors_sessions: OrsSessionsTable;
  evaluation_clock: EvaluationClockTable;
  evaluation_times: EvaluationTimesTable;
  /** See `evaluation_count_deltas`. */
  evaluation_time_deltas: EvaluationTimesTable;
  evaluation_results: EvaluationResultsTable;
  evaluation_payloads: EvaluationPayloadsTable;
  evaluation_tags: EvaluationTagsTable;
  evaluation_corrections: EvaluationCorrectionsTable;
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
  usage_counts: UsageCountsTable;
  usage_model_tokens: UsageModelTokensTable;
  usage_latencies: UsageLatenciesTable;
}

export type Database = Kysely<Tables>;
