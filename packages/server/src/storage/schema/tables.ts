import type { Kysely } from "kysely";

/** Microseconds since 1970-01-01 UTC. */
export type Micros = number;

/** Values that are made once for a database and shared by every process on it. */
export interface SettingsTable {
  name: string;
  value: string;
}

/** Requests that were made under an `Idempotency-Key`, for a day. */
export interface IdempotentRequestsTable {
  /** A digest of the caller, the operation and the key. */
  id: string;
  /** Of everything else that the request says. */
  request_digest: string;
  /** By which the answer is given again: JSON, or of an import its name. */
  receipt: string;
  created_at: Micros;
}

export interface AccountsTable {
  id: string;
  name: string;
  created_at: Micros;
}

export interface UsersTable {
  id: string;
  account_id: string;
  oidc_issuer: string;
  oidc_subject: string;
  email: string | null;
  name: string | null;
  created_at: Micros;
}

export interface ApiKeysTable {
  id: string;
  user_id: string;
  name: string;
  digest: string;
  prefix: string;
  last_four: string;
  created_at: Micros;
  expires_at: Micros | null;
  revoked_at: Micros | null;
  last_used_at: Micros | null;
}

/** A browser that is signed in. */
export interface SessionsTable {
  id: string;
  user_id: string;
  /** Where it was signed in, as it was configured then: a provider for several tenants names another issuer in its tokens. */
  issuer: string;
  /** Of the token in the browser's cookie. */
  digest: string;
  /** What the browser calls itself, cut short. */
  user_agent: string | null;
  /** By which the identity provider is told whose sign-in ends; gone with the session. */
  id_token: string | null;
  created_at: Micros;
  last_seen_at: Micros;
  /** When it ends, however much it is used. */
  expires_at: Micros;
  ended_at: Micros | null;
}

/** An address that signs a browser in once, in local mode. */
export interface SignInTokensTable {
  digest: string;
  user_id: string;
  created_at: Micros;
  expires_at: Micros;
  used_at: Micros | null;
}

export interface ErrorTaxonomiesTable {
  id: string;
  account_id: string;
  name: string;
  description: string | null;
  /** The highest number that a revision of it has; every revision is counted here first. */
  last_revision: number;
  created_at: Micros;
}

export interface ErrorTaxonomyRevisionsTable {
  id: string;
  taxonomy_id: string;
  account_id: string;
  revision: number;
  /** JSON. */
  body: string;
  /** JSON. */
  metadata: string | null;
  created_at: Micros;
}

/** Which revision of a taxonomy bears a label. */
export interface ErrorTaxonomyLabelsTable {
  taxonomy_id: string;
  label: string;
  revision_id: string;
  /** Orders the labels of a revision. */
  position: number;
}

export interface EvaluatorProfilesTable {
  public_id: string;
  account_id: string;
  evaluator_family: string;
  name: string;
  /** The highest number that a revision of it has. */
  last_revision: number;
  archived_at: Micros | null;
  created_at: Micros;
}

export interface EvaluatorProfileRevisionsTable {
  public_id: string;
  revision: number;
  /** JSON. */
  config: string;
  description: string | null;
  created_at: Micros;
}

/**
 * On SQLite one row: the last result's number and time. Whoever adds results holds it. On PostgreSQL numbers come from a
 * sequence, and this is a view for processes of the version before.
 */
export interface EvaluationClockTable {
  last_id: number;
  last_created_at: Micros;
}

/** Between which times the results of a stretch of neighbouring numbers lie. It may say more than there is, never less. */
export interface EvaluationTimesTable {
  /** The numbers divided by how many a stretch has. */
  stretch: number;
  earliest: Micros;
  latest: Micros;
}

/** What results are searched and listed by. Only the `counted_` columns and `score_mille` ever change, by a correction. */
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
  /** success, validation_error or failed. */
  status: string;
  explain_strategy: string;
  dataset_id: string | null;
  run_id: string | null;
  is_external: number;
  /** The evaluator's verdict. */
  pass: number | null;
  score: number | null;
  /** The verdict that counts: the latest correction's, else the evaluator's. */
  counted_pass: number | null;
  counted_score: number | null;
  /** The counted score in thousandths, rounded; the searches' and summaries' grain. */
  score_mille: number | null;
  /** Under which the caller wants this evaluation once and no second time. */
  request_key: string | null;
}

/** The rest of a result: what is only shown. */
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

/** What people said about results; of several corrections of one result the last counts. */
export interface EvaluationCorrectionsTable {
  id: string;
  result_id: number;
  account_id: string;
  /** The result's. */
  profile_public_id: string | null;
  user_id: string;
  pass: number;
  score: number | null;
  comment: string | null;
  created_at: Micros;
}

/**
 * Results that are counted together: all that a summary can filter and split by, but the day. Each result counts twice, in
 * its run's series and in one of all runs: runs are many, and most questions are not about them.
 */
export interface EvaluationSeriesTable {
  id: string;
  account_id: string;
  app: string;
  evaluator_id: string;
  /** Here and below, an empty text or a 0 stands for none. */
  evaluator_family: string;
  profile_name: string;
  profile_public_id: string;
  profile_revision: number;
  /** 1 where the results of all runs are counted, and of none; then `run_id` is empty. */
  spans_runs: number;
  run_id: string;
}

/** How many results of a series a day had, by verdict and score: the rollup that summaries read. */
export interface EvaluationCountsTable {
  series_id: string;
  /** Days since 1970-01-01 UTC. */
  day: number;
  /** pass, fail, none (a result without a pass), validation_error or failed. */
  verdict: string;
  /** In thousandths, rounded; -1 without a score. */
  score_mille: number;
  count: number;
  score_sum: number;
  score_sum_of_squares: number;
}

/**
 * What is still to be added to `EvaluationCountsTable`: on PostgreSQL writers only append here, so that they never wait for each
 * other, and a moment later it is folded into the counts. Readers add both up. On SQLite it stays empty, as writers take turns
 * anyway; the same goes for the two other tables of deltas.
 */
export type EvaluationCountDeltasTable = EvaluationCountsTable;

/** What an account asked for in an hour. Of a key that is used all the time there are a few rows an hour. */
export interface UsageCountsTable {
  account_id: string;
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  /** Empty: asked with a session. */
  key_id: string;
  /** predict, chat or evaluate. */
  operation: string;
  /** Empty: it succeeded; else why it failed. */
  outcome: string;
  requests: number;
  prompt_tokens: number;
  completion_tokens: number;
}

/** How long an account's predictions took in an hour: how many of them fell into each bucket. */
export interface UsageLatenciesTable {
  account_id: string;
  /** Hours since 1970-01-01 UTC. */
  hour: number;
  /** total, or overhead: without what the upstream took. */
  measure: string;
  bucket: number;
  count: number;
}

/** How often an account's evaluations against a revision of an error taxonomy found each kind of error, by day. */
export interface ErrorFindingCountsTable {
  account_id: string;
  revision_id: string;
  /** Days since 1970-01-01 UTC. */
  day: number;
  /** Made from the path, which may be longer than what a database takes as a key. */
  path_id: string;
  /** JSON, the names from the root down. The empty path counts the evaluations themselves, whatever they found. */
  path: string;
  count: number;
}

export interface Tables {
  settings: SettingsTable;
  idempotent_requests: IdempotentRequestsTable;
  accounts: AccountsTable;
  users: UsersTable;
  api_keys: ApiKeysTable;
  sessions: SessionsTable;
  sign_in_tokens: SignInTokensTable;
  error_taxonomies: ErrorTaxonomiesTable;
  error_taxonomy_revisions: ErrorTaxonomyRevisionsTable;
  error_taxonomy_labels: ErrorTaxonomyLabelsTable;
  evaluator_profiles: EvaluatorProfilesTable;
  evaluator_profile_revisions: EvaluatorProfileRevisionsTable;
  evaluation_clock: EvaluationClockTable;
  evaluation_times: EvaluationTimesTable;
  evaluation_time_deltas: EvaluationTimesTable;
  evaluation_results: EvaluationResultsTable;
  evaluation_payloads: EvaluationPayloadsTable;
  evaluation_tags: EvaluationTagsTable;
  evaluation_corrections: EvaluationCorrectionsTable;
  evaluation_series: EvaluationSeriesTable;
  evaluation_counts: EvaluationCountsTable;
  evaluation_count_deltas: EvaluationCountDeltasTable;
  error_finding_counts: ErrorFindingCountsTable;
  error_finding_count_deltas: ErrorFindingCountsTable;
  usage_counts: UsageCountsTable;
  usage_latencies: UsageLatenciesTable;
}

export type Database = Kysely<Tables>;
