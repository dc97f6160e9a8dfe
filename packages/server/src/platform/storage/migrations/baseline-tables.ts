/** The parts of the tables of 0.1.0 that the two engines write differently. `schema/` describes the tables' contents. */
export interface Words {
  /**
   * The type of a result's number. On SQLite only a primary key of exactly the type `integer` is the row's own number; on PostgreSQL that
   * has 32 bits.
   */
  resultId: string;
  /** A column that numbers its table's rows. */
  number: string;
  /** Like `number`, but the number of a deleted row is never reused. */
  neverReusedNumber: string;
  /** A text that is compared by its bytes: PostgreSQL's default, by the database's locale, is slower and orders differently. */
  byBytes: string;
  /** For rows that are little more than their key: SQLite stores them in the key's tree, which saves a write and a read. */
  byKey: string;
}

const identity = "bigint generated always as identity primary key";
export const postgresWords: Words = {
  resultId: "bigint",
  number: identity,
  neverReusedNumber: identity,
  byBytes: 'text collate "C"',
  byKey: "",
};
export const sqliteWords: Words = {
  resultId: "integer",
  number: "integer primary key",
  neverReusedNumber: "integer primary key autoincrement",
  byBytes: "text",
  byKey: " without rowid",
};

/** Accounts, and who acts for them. */
export const accountTables = () => `
create table "settings" (name text primary key, value text not null);

create table "accounts" (id text primary key, name text not null unique, created_at bigint not null);

create table "users" (
  id text primary key, account_id text not null references accounts (id), oidc_issuer text not null,
  oidc_subject text not null, email text, name text, created_at bigint not null,
  role text default 'owner' not null,
  constraint users_by_identity unique (oidc_issuer, oidc_subject)
);
create index users_by_account on users (account_id, created_at, id);

create table "api_keys" (
  id text primary key, user_id text not null references users (id), name text not null,
  digest text not null unique, prefix text not null, last_four text not null, created_at bigint not null,
  expires_at bigint, revoked_at bigint, last_used_at bigint, rate_limit_rpm integer, max_in_flight integer,
  capture text, scopes text
);
create index api_keys_newest_first on api_keys (user_id, created_at desc, id desc);
-- A user's active keys are counted with each new one, and revoked ones stay for good.
create index api_keys_not_revoked on api_keys (user_id) where revoked_at is null;

create table "sessions" (
  id text primary key, user_id text not null references users (id), digest text not null unique,
  user_agent text, id_token text, created_at bigint not null, last_seen_at bigint not null,
  expires_at bigint not null, ended_at bigint, issuer text default '' not null
);
create index sessions_newest_first on sessions (user_id, created_at desc, id desc);
create index sessions_by_expiry on sessions (expires_at);

create table "sign_in_tokens" (
  digest text primary key, user_id text not null references users (id), created_at bigint not null,
  expires_at bigint not null, used_at bigint
);
create index sign_in_tokens_by_expiry on sign_in_tokens (expires_at);
`;

/** Records of everything that accounts do. */
export const useTables = ({ byKey }: Words) => `
create table "usage_counts" (
  account_id text not null, hour integer not null, key_id text not null, operation text not null,
  outcome text not null, requests bigint not null, prompt_tokens bigint not null,
  completion_tokens bigint not null, cached_tokens bigint default 0 not null,
  constraint usage_counts_of_an_hour primary key (account_id, hour, key_id, operation, outcome)
)${byKey};

create table "usage_latencies" (
  account_id text not null, hour integer not null, measure text not null, bucket integer not null,
  count bigint not null,
  constraint usage_latencies_of_an_hour primary key (account_id, hour, measure, bucket)
)${byKey};

-- Beside the counts, whose key a model's name would make longer.
create table "usage_model_tokens" (
  account_id text not null, hour integer not null, key_id text not null, operation text not null,
  model text not null, prompt_tokens bigint not null, completion_tokens bigint not null,
  upstream_cached_tokens bigint not null,
  constraint usage_model_tokens_of_an_hour primary key (account_id, hour, key_id, operation, model)
)${byKey};

create table "idempotent_requests" (
  id text primary key, request_digest text not null, receipt text not null, created_at bigint not null
);
create index idempotent_requests_by_age on idempotent_requests (created_at);

-- Who works on what in the background: docs/decisions/0042-retention-and-deletion.md.
create table "leases" (name text primary key, holder text not null, until bigint not null);

-- Accounts for which nothing more is stored: docs/decisions/0042-retention-and-deletion.md.
create table "closed_accounts" (account_id text primary key, closed_at bigint not null);

create table "audit_events" (
  id text primary key, account_id text not null, created_at bigint not null, action text not null,
  object_id text not null, actor_kind text not null, actor_user_id text, actor_id text, actor_name text,
  request_id text, detail text not null
);
create index audit_events_by_time on audit_events (account_id, created_at, id);
create index audit_events_by_action on audit_events (account_id, action, created_at, id);
create index audit_events_by_actor on audit_events (account_id, actor_user_id, created_at, id);
create index audit_events_by_object on audit_events (account_id, object_id, created_at, id);
`;

export const evaluatorTables = () => `
create table "error_taxonomies" (
  id text primary key, account_id text not null references accounts (id), name text not null, description text,
  last_revision integer not null, created_at bigint not null,
  constraint error_taxonomies_by_name unique (account_id, name)
);

create table "error_taxonomy_revisions" (
  id text primary key, taxonomy_id text not null references error_taxonomies (id),
  account_id text not null references accounts (id), revision integer not null, body text not null,
  metadata text, created_at bigint not null,
  constraint error_taxonomy_revisions_by_number unique (taxonomy_id, revision)
);
create index error_taxonomy_revisions_newest_first
  on error_taxonomy_revisions (account_id, created_at desc, id desc);
create index error_taxonomy_revisions_of_one_newest_first
  on error_taxonomy_revisions (taxonomy_id, created_at desc, id desc);

create table "error_taxonomy_labels" (
  taxonomy_id text not null references error_taxonomies (id), label text not null,
  revision_id text not null references error_taxonomy_revisions (id), position integer not null,
  constraint error_taxonomy_labels_once primary key (taxonomy_id, label)
);
create index error_taxonomy_labels_of_a_revision on error_taxonomy_labels (revision_id, position);

create table "evaluator_profiles" (
  public_id text primary key, account_id text not null references accounts (id), evaluator_family text not null,
  name text not null, last_revision integer not null, archived_at bigint, created_at bigint not null,
  constraint evaluator_profiles_by_name unique (account_id, evaluator_family, name)
);

create table "evaluator_profile_revisions" (
  public_id text not null references evaluator_profiles (public_id), revision integer not null,
  config text not null, description text, created_at bigint not null,
  constraint evaluator_profile_revisions_by_number primary key (public_id, revision)
);
`;

export const datasetTables = ({ byBytes, byKey, neverReusedNumber }: Words) => `
create table "datasets" (
  id text primary key, account_id text not null, name text not null, description text, tags text,
  last_revision bigint not null, created_by text not null, created_at bigint not null, change text,
  constraint datasets_by_name unique (account_id, name)
);
create index datasets_of_an_account on datasets (account_id, created_at, id);

create table "dataset_revisions" (
  id ${neverReusedNumber}, account_id text not null, dataset_id text not null, state text not null,
  number bigint, digest text, trajectories bigint, samples bigint not null, bytes bigint not null,
  created_at bigint not null, touched_at bigint not null
);
-- Both are null until the revision is sealed, and nulls are distinct.
create unique index dataset_revisions_by_number on dataset_revisions (dataset_id, number);
create unique index dataset_revisions_by_digest on dataset_revisions (dataset_id, digest);
create index dataset_revisions_to_sweep on dataset_revisions (state, touched_at);
-- The sum of the bytes is read from it alone.
create index dataset_revisions_of_an_account on dataset_revisions (account_id, state, bytes);

create table "dataset_samples" (
  revision_id bigint not null, position bigint not null, trajectory_id ${byBytes} not null, step bigint not null,
  sample_id ${byBytes} not null, bytes bigint not null,
  constraint dataset_samples_by_position primary key (revision_id, position)
)${byKey};
create unique index dataset_samples_by_step on dataset_samples (revision_id, trajectory_id, step);
create unique index dataset_samples_by_sample_id on dataset_samples (revision_id, sample_id);

-- With rowids on SQLite, also the next: long rows would make the keys' tree deep.
create table "dataset_payloads" (
  revision_id bigint not null, position bigint not null, part text, body text not null,
  constraint dataset_payloads_by_position primary key (revision_id, position)
);

create table "dataset_parts" (
  revision_id bigint not null, digest text not null, previous text, text text not null,
  constraint dataset_parts_by_digest primary key (revision_id, digest)
);

create table "sample_traits" (
  revision_id bigint not null, position bigint not null, digest text not null, changes bigint,
  verb text not null, tags text,
  constraint sample_traits_by_position primary key (revision_id, position)
)${byKey};
`;

export const runTables = ({ byKey }: Words) => `
create table "projects" (
  id text primary key, account_id text not null, name text not null, created_by text not null,
  created_at bigint not null,
  constraint projects_by_name unique (account_id, name)
);
create index projects_of_an_account on projects (account_id, created_at, id);

create table "runs" (
  id text primary key, account_id text not null, name text not null, status text not null, status_reason text,
  paused_by text, target_kind text not null, target text not null, mode text not null, params text,
  evaluators text not null, repeats bigint not null, concurrency bigint not null, tags text, dataset_id text,
  revision_id bigint, revision bigint, project_id text, metadata text, samples bigint not null,
  predicted bigint not null, evaluated bigint not null, failed bigint not null, provenance text not null,
  notes text not null, lease_id text, lease_until bigint not null, created_by text not null,
  created_at bigint not null, started_at bigint, finished_at bigint, api_key_id text, truncated integer,
  empty integer, repaired integer, tries text, unpredicted integer default 0 not null
);
create index runs_of_an_account on runs (account_id, created_at, id);
create index runs_of_a_dataset on runs (dataset_id, created_at, id);
-- What processes look for work in.
create index runs_to_work_on on runs (lease_until) where status in ('queued', 'running', 'paused');
create index runs_to_sweep on runs (id) where status = 'deleted';
create index runs_external on runs (account_id, created_at, id) where target_kind = 'external';
create index runs_of_a_project on runs (account_id, project_id, created_at, id) where target_kind = 'external';

create table "run_verdicts" (
  run_id text not null, evaluator bigint not null, position bigint not null, repeat bigint not null,
  status text not null, pass integer, score double precision, unchanged_pass integer,
  unchanged_score double precision, result_id bigint,
  constraint run_verdicts_of_a_prediction primary key (run_id, evaluator, position, repeat)
)${byKey};

create table "predictions" (
  id text primary key, account_id text not null, source text not null, created_at bigint not null, run_id text,
  position bigint, repeat bigint, status text not null, error_category text, deployment text, model text,
  replica text, finish_reason text, prompt_tokens bigint not null, cached_tokens bigint not null,
  completion_tokens bigint not null, latency_micros bigint, api_key_id text, request_id text, sent_model text
);
create unique index predictions_of_a_run on predictions (run_id, position, repeat)
  where run_id is not null;
create index predictions_by_error_category on predictions (account_id, error_category, created_at, id)
  where error_category is not null;
create index predictions_by_api_key_id on predictions (account_id, api_key_id, created_at, id)
  where api_key_id is not null;
-- What is too old to be kept is found by it.
create index predictions_live on predictions (created_at) where source = 'live';
-- Predictions of runs have no request, and are not in it.
create index predictions_by_request_id on predictions (account_id, request_id, created_at, id)
  where request_id is not null;
-- Lists of all, by source and by status share it: docs/decisions/0030-stored-predictions.md.
create index predictions_newest on predictions (account_id, source, status, created_at, id);
create index predictions_by_deployment on predictions (account_id, deployment, created_at, id)
  where deployment is not null;
create index predictions_by_model on predictions (account_id, model, created_at, id)
  where model is not null;

create table "prediction_payloads" (
  prediction_id text primary key, context_digest text, request text, output text, reasoning text,
  error_message text
);
create index prediction_payloads_of_a_context on prediction_payloads (context_digest)
  where context_digest is not null;

create table "prediction_contexts" (
  account_id text not null, digest text not null, context text not null,
  constraint prediction_contexts_by_digest primary key (account_id, digest)
);
`;

export const environmentTables = ({ byKey }: Words) => `
create table "environments" (
  id text primary key, account_id text not null, name text not null, last_revision bigint not null,
  tasks text not null, created_by text not null, created_at bigint not null,
  constraint environments_by_name unique (account_id, name)
);
create index environments_of_an_account on environments (account_id, created_at, id);

create table "environment_revisions" (
  environment_id text not null, revision bigint not null, config text not null, created_at bigint not null,
  constraint environment_revisions_by_number primary key (environment_id, revision)
);

create table "environment_tasks" (
  environment_id text not null, split text not null, position bigint not null, task text not null,
  constraint environment_tasks_by_position primary key (environment_id, split, position)
);

create table "episodes" (
  id text primary key, account_id text not null, environment_id text not null, environment text not null,
  revision bigint not null, split text not null, position bigint not null, task text not null, seed bigint,
  status text not null, outcome text, stop_reason text, steps bigint not null, reward double precision,
  failed_steps bigint not null, api_key_id text, created_at bigint not null, last_active_at bigint not null,
  error text
);
create index episodes_of_an_account on episodes (account_id, created_at, id);
create index episodes_of_an_environment on episodes (account_id, environment_id, created_at, id);

create table "episode_steps" (
  episode_id text not null, step bigint not null, action text not null, reward double precision,
  reward_error text, terminated integer not null, truncated integer not null, request_key text,
  constraint episode_steps_by_number primary key (episode_id, step)
)${byKey};
create unique index episode_steps_by_key on episode_steps (episode_id, request_key)
  where request_key is not null;

create table "ors_sessions" (
  id text primary key, account_id text not null, wanted text not null, environment text,
  delivered_steps bigint not null, created_at bigint not null, last_used_at bigint not null
);
create index ors_sessions_by_last_use on ors_sessions (last_used_at);
`;
