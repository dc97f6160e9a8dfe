import { type Kysely, type Migration, sql } from "kysely";
import { isPostgres } from "../store.ts";
import {
  countTables,
  keepTotals,
  numberResults,
  resultIndexes,
  resultTables,
  tagTables,
} from "./baseline-results.ts";
import * as tables from "./baseline-tables.ts";

/**
 * The last migration of the oldest version that may run on today's schema, together with this one or again after it. To be moved forward
 * with a migration that such a version would contradict or ignore: docs/upgrades.md.
 */
export const oldestVersion = "028-roles-and-audit";

/** The migration that makes the schema of 0.1.0 from nothing. */
export const baselineName = "034-dataset-changes";

/** The migrations that once made this schema in steps: databases of 0.1.0 have recorded them, and 0.1.0 looks for them in later databases. */
const before = [
  "001-identity",
  "002-error-taxonomies",
  "003-evaluator-profiles",
  "004-evaluation-results",
  "005-sessions",
  "006-usage",
  "007-error-findings",
  "008-session-issuers",
  "009-result-numbers",
  "010-idempotent-requests",
  "011-result-clusters",
  "012-projects",
  "013-cached-tokens",
  "014-api-key-limits",
  "016-datasets",
  "017-runs",
  "018-tag-rollup",
  "019-usage-by-model",
  "020-capture",
  "021-external-runs",
  "024-predictions-by-request",
  "025-environments",
  "026-ors-sessions",
  "027-deletion",
  "028-roles-and-audit",
  "029-fewer-prediction-indexes",
  "030-closed-accounts",
  "031-total-counts",
  "032-keys-of-runs",
  "033-run-tries",
];

/** Migrations by name, in the order in which they run. Names of released migrations never change. */
export const migrations: Record<string, Migration> = {
  ...Object.fromEntries(before.map((name) => [name, { async up() {} }])),
  [baselineName]: { up: createSchema },
  "035-dataset-imports": inOrder("alter table dataset_revisions add column import text"),
  "036-worlds": inOrder(
    `create table worlds (
        id text primary key, account_id text not null, name text not null, last_revision bigint not null,
        archived_at bigint, created_by text not null, created_at bigint not null,
        constraint worlds_by_name unique (account_id, name))`,
    "create index worlds_of_an_account on worlds (account_id, created_at, id)",
    `create table world_revisions (
        world_id text not null, revision bigint not null, config text not null, pinned text not null,
        created_at bigint not null, constraint world_revisions_by_number primary key (world_id, revision))`,
  ),
  "037-confidence": inOrder(
    "alter table predictions add column score double precision",
    "alter table predictions add column confidence double precision",
  ),
  "038-labels": inOrder(
    `create table evaluation_labels (
        id text primary key, account_id text not null, result_id bigint not null, user_id text, annotator text,
        pass integer not null, score double precision, correction_id text, created_at bigint not null)`,
    "create index evaluation_labels_of_a_result on evaluation_labels (result_id)",
    "create index evaluation_labels_of_an_account on evaluation_labels (account_id, result_id)",
    `create table label_samples (
        id text primary key, account_id text not null, run_id text not null, evaluator_id text not null,
        is_external integer not null, profile_name text, design text not null, seed bigint not null,
        left_out bigint not null, strata text not null, created_by text not null, created_at bigint not null)`,
    "create index label_samples_of_an_account on label_samples (account_id, run_id, created_at)",
    `create table label_sample_items (
        sample_id text not null, position bigint not null, result_id bigint not null,
        probability double precision not null,
        constraint label_sample_items_of_a_sample primary key (sample_id, position))`,
    "create index label_sample_items_of_a_result on label_sample_items (result_id)",
  ),
  "039-budgets": inOrder(`create table budgets (
        account_id text not null, api_key_id text not null, limit_micros bigint not null, stops integer not null,
        warned_month bigint not null, constraint budgets_of_an_account primary key (account_id, api_key_id))`),
  "040-goals-and-headlines": inOrder(
    `create table goals (
        id text primary key, account_id text not null, run_name text not null, evaluator text not null,
        profile_name text, pass_rate double precision not null, created_by text not null,
        created_at bigint not null, constraint goals_by_run_name unique (account_id, run_name))`,
    "create index goals_of_an_account on goals (account_id, created_at, id)",
    "alter table runs add column headline text",
    "create index runs_without_headline on runs (created_at, id) where headline is null and dataset_id is not null",
  ),
  "041-shares": inOrder(
    `create table shares (
        id text primary key, account_id text not null, digest text not null,
        user_id text not null, api_key_id text, kind text not null, object text not null,
        with_texts bigint not null, created_at bigint not null, expires_at bigint not null,
        constraint shares_by_digest unique (digest))`,
    "create index shares_of_an_account on shares (account_id, created_at, id)",
    "create index shares_by_end on shares (expires_at)",
  ),
  "042-reality-checks": inOrder(
    `create table reality_checks (
        id text primary key, account_id text not null, name text not null, environment text,
        false_success_limit double precision, episodes bigint not null, created_by text not null,
        created_at bigint not null)`,
    "create index reality_checks_of_an_account on reality_checks (account_id, created_at, id)",
    `create table reality_episodes (
        check_id text not null, position bigint not null, task_id text not null, episode_id text, policy text,
        simulated integer not null, real integer not null, replayed integer,
        constraint reality_episodes_by_position primary key (check_id, position))`,
  ),
  "043-replays": inOrder(
    // While the index is made, the table can be read; together with a new column, it could not.
    "create index episodes_by_end on episodes (environment_id, last_active_at) where status = 'finished'",
    "alter table episodes add column policy text",
    "alter table reality_checks add column environment_id text",
    "alter table reality_checks add column environment_revision bigint",
    "alter table reality_checks add column source text not null default 'pairs'",
    "alter table reality_checks add column real text",
    "alter table reality_checks add column recordings text",
    "alter table reality_checks add column status text not null default 'completed'",
    "alter table reality_checks add column reason text",
    "alter table reality_checks add column drawn_until bigint",
    "create index reality_checks_at_work on reality_checks (id) where status = 'running'",
    "alter table reality_episodes add column simulated_reward double precision",
    "alter table reality_episodes add column real_reward double precision",
    "alter table reality_episodes add column steps bigint",
    "alter table reality_episodes add column diverged_at bigint",
    "alter table reality_episodes add column verbs text",
    "alter table reality_episodes add column checked_at bigint",
    "create index reality_episodes_of_an_episode on reality_episodes (episode_id)",
    `create table reality_replays (
        check_id text not null, position bigint not null, episode_id text, trajectory_id text, error text,
        constraint reality_replays_by_position primary key (check_id, position))`,
    `create table reality_steps (
        check_id text not null, position bigint not null, step bigint not null, action text not null,
        observation text not null, reward double precision, done integer not null, latency_micros bigint,
        constraint reality_steps_by_step primary key (check_id, position, step))`,
  ),
  "046-runs-of-reality-checks": inOrder(
    "alter table reality_checks add column run_id text",
    "alter table reality_checks add column whole_run_id text",
  ),
  "047-example-tokens": inOrder(
    "alter table usage_counts add column example_tokens bigint default 0 not null",
  ),
  "048-deleted-worlds": inOrder("alter table worlds add column deleted_at bigint"),
  "049-equal-outputs": inOrder("alter table evaluation_results add column is_equal integer"),
  "050-traits-of-deleted-samples": inOrder(
    `delete from sample_traits
      where not exists (select 1 from dataset_revisions where dataset_revisions.id = sample_traits.revision_id)`,
  ),
};

/** A migration of these statements. */
function inOrder(...statements: string[]): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

async function createSchema(db: Kysely<unknown>): Promise<void> {
  const words = isPostgres(db) ? tables.postgresWords : tables.sqliteWords;
  const statements = [
    // The first table also reveals a database with an earlier schema, which already has it.
    tables.accountTables(),
    tables.useTables(words),
    tables.evaluatorTables(),
    tables.datasetTables(words),
    tables.runTables(words),
    tables.environmentTables(words),
    resultTables(words),
    resultIndexes(),
    countTables(words),
    tagTables(words),
  ].flatMap((text) => text.split(/;$/m).filter((statement) => statement.trim() !== ""));
  for (const statement of [...statements, ...numberResults(isPostgres(db)), ...keepTotals(isPostgres(db))])
    await sql.raw(statement).execute(db);
}
