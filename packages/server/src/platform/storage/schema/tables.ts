import type { Kysely } from "kysely";
import type { AuditEventsTable } from "./audit.ts";
import type {
  DatasetPartsTable,
  DatasetPayloadsTable,
  DatasetRevisionsTable,
  DatasetSamplesTable,
  DatasetsTable,
} from "./datasets.ts";
import type { LeasesTable, ResultDeletionsTable } from "./deletion.ts";
import type {
  EnvironmentRevisionsTable,
  EnvironmentsTable,
  EnvironmentTasksTable,
  EpisodeStepsTable,
  EpisodesTable,
  OrsSessionsTable,
} from "./environments.ts";
import type {
  ErrorTaxonomiesTable,
  ErrorTaxonomyLabelsTable,
  ErrorTaxonomyRevisionsTable,
} from "./error-taxonomies.ts";
import type {
  EvaluationClockTable,
  EvaluationCorrectionsTable,
  EvaluationPayloadsTable,
  EvaluationResultsTable,
  EvaluationTagsTable,
  EvaluationTimesTable,
} from "./evaluation-results.ts";
import type {
  ErrorFindingCountsTable,
  EvaluationCountsTable,
  EvaluationSeriesTable,
  EvaluationTagCountsTable,
  EvaluationTagNamesTable,
  EvaluationTagProgressTable,
  EvaluationTagSeriesTable,
  EvaluationTagValuesTable,
  EvaluationTotalCountsTable,
} from "./evaluation-rollup.ts";
import type { EvaluatorProfileRevisionsTable, EvaluatorProfilesTable } from "./evaluator-profiles.ts";
import type { IdempotentRequestsTable } from "./idempotency.ts";
import type {
  AccountsTable,
  ApiKeysTable,
  ClosedAccountsTable,
  SessionsTable,
  SignInTokensTable,
  UsersTable,
} from "./identity.ts";
import type { PredictionContextsTable, PredictionPayloadsTable, PredictionsTable } from "./predictions.ts";
import type { ProjectsTable } from "./projects.ts";
import type { RunsTable, RunVerdictsTable, SampleTraitsTable } from "./runs.ts";
import type { SettingsTable } from "./settings.ts";
import type { UsageCountsTable, UsageLatenciesTable, UsageModelTokensTable } from "./usage.ts";

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
