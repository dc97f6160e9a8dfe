import type { Tables } from "../platform/storage/schema/tables.ts";

/** By what rows of a table belong to an account: its own id, or the ids of the rows of another table that do. */
export type RowOwner =
  | "account"
  | "users"
  | "profiles"
  | "taxonomies"
  | "revisions"
  | "runs"
  | "environments"
  | "episodes"
  | "worlds"
  | "label_samples"
  | "reality_checks";

/** One of the tables with an account's own data, as opposed to what is counted from it. */
export interface AccountTable {
  table: keyof Tables;
  /** What rows are in the order of, unique among those of one owner. */
  key: readonly string[];
  owner: { of: RowOwner; column: string };
  /** Rows of other tables belong to these, by this column. */
  owns?: { as: RowOwner; column: string };
  /** Rows that are exported; absent: all. */
  onlyWhere?: string;
  /** The table with the texts of each row, and the column that names it. */
  texts?: { table: keyof Tables; column: string; key: string };
  /** Columns with ids of users, of revisions of datasets and of results, which are others where they are imported. */
  users?: readonly string[];
  /** A column with ids of users and of others. */
  maybeUser?: string;
  revisions?: readonly string[];
  results?: readonly string[];
  /** Columns that are not exported. */
  without?: readonly string[];
  /** Rows that are read at once: some have long texts. */
  rowsAtOnce: number;
}

const ofAccount = { of: "account", column: "account_id" } as const;
const many = 500;
const few = 20;

/** In the order in which they are exported and stored: what a row names is stored before it. */
export const accountTables: readonly AccountTable[] = [
  {
    table: "api_keys",
    key: ["id"],
    owner: { of: "users", column: "user_id" },
    users: ["user_id"],
    // Whoever has a digest could try keys against it. What was revoked, and when, is of the place that it was used at.
    without: ["digest", "revoked_at", "last_used_at"],
    rowsAtOnce: many,
  },
  { table: "budgets", key: ["api_key_id"], owner: ofAccount, rowsAtOnce: many },
  {
    table: "error_taxonomies",
    key: ["id"],
    owner: ofAccount,
    owns: { as: "taxonomies", column: "id" },
    rowsAtOnce: many,
  },
  { table: "error_taxonomy_revisions", key: ["id"], owner: ofAccount, rowsAtOnce: few },
  {
    table: "error_taxonomy_labels",
    key: ["label"],
    owner: { of: "taxonomies", column: "taxonomy_id" },
    rowsAtOnce: many,
  },
  {
    table: "evaluator_profiles",
    key: ["public_id"],
    owner: ofAccount,
    owns: { as: "profiles", column: "public_id" },
    rowsAtOnce: many,
  },
  {
    table: "evaluator_profile_revisions",
    key: ["revision"],
    owner: { of: "profiles", column: "public_id" },
    rowsAtOnce: few,
  },
  { table: "projects", key: ["id"], owner: ofAccount, users: ["created_by"], rowsAtOnce: many },
  { table: "datasets", key: ["id"], owner: ofAccount, users: ["created_by"], rowsAtOnce: many },
  {
    table: "dataset_revisions",
    key: ["id"],
    owner: ofAccount,
    owns: { as: "revisions", column: "id" },
    onlyWhere: "state = 'sealed'",
    revisions: ["id"],
    rowsAtOnce: many,
  },
  ...(["dataset_samples", "dataset_payloads", "sample_traits"] as const).map((table) => ({
    table,
    key: ["position"],
    owner: { of: "revisions" as const, column: "revision_id" },
    revisions: ["revision_id"],
    rowsAtOnce: table === "dataset_payloads" ? few : many,
  })),
  {
    table: "dataset_parts",
    key: ["digest"],
    owner: { of: "revisions", column: "revision_id" },
    revisions: ["revision_id"],
    rowsAtOnce: few,
  },
  {
    table: "environments",
    key: ["id"],
    owner: ofAccount,
    owns: { as: "environments", column: "id" },
    users: ["created_by"],
    rowsAtOnce: many,
  },
  {
    table: "environment_revisions",
    key: ["revision"],
    owner: { of: "environments", column: "environment_id" },
    rowsAtOnce: few,
  },
  {
    table: "environment_tasks",
    key: ["split", "position"],
    owner: { of: "environments", column: "environment_id" },
    rowsAtOnce: few,
  },
  {
    table: "worlds",
    key: ["id"],
    owner: ofAccount,
    owns: { as: "worlds", column: "id" },
    users: ["created_by"],
    rowsAtOnce: many,
  },
  {
    table: "world_revisions",
    key: ["revision"],
    owner: { of: "worlds", column: "world_id" },
    rowsAtOnce: few,
  },
  {
    table: "reality_checks",
    key: ["id"],
    owner: ofAccount,
    owns: { as: "reality_checks", column: "id" },
    users: ["created_by"],
    rowsAtOnce: many,
  },
  {
    table: "reality_episodes",
    key: ["position"],
    owner: { of: "reality_checks", column: "check_id" },
    rowsAtOnce: many,
  },
  {
    table: "reality_replays",
    key: ["position"],
    owner: { of: "reality_checks", column: "check_id" },
    rowsAtOnce: many,
  },
  {
    table: "reality_steps",
    key: ["position", "step"],
    owner: { of: "reality_checks", column: "check_id" },
    rowsAtOnce: few,
  },
  {
    table: "runs",
    key: ["id"],
    owner: ofAccount,
    owns: { as: "runs", column: "id" },
    onlyWhere: "status <> 'deleted'",
    users: ["created_by"],
    revisions: ["revision_id"],
    without: ["lease_id"],
    rowsAtOnce: few,
  },
  { table: "goals", key: ["id"], owner: ofAccount, users: ["created_by"], rowsAtOnce: many },
  {
    table: "episodes",
    key: ["id"],
    owner: ofAccount,
    owns: { as: "episodes", column: "id" },
    rowsAtOnce: few,
  },
  {
    table: "episode_steps",
    key: ["step"],
    owner: { of: "episodes", column: "episode_id" },
    rowsAtOnce: few,
  },
  {
    table: "shares",
    key: ["id"],
    owner: ofAccount,
    users: ["user_id"],
    // The link leads to the place that it was made at, and works there alone.
    without: ["digest", "expires_at"],
    rowsAtOnce: many,
  },
  { table: "prediction_contexts", key: ["digest"], owner: ofAccount, rowsAtOnce: few },
  {
    table: "predictions",
    key: ["id"],
    owner: ofAccount,
    texts: { table: "prediction_payloads", column: "prediction_id", key: "id" },
    rowsAtOnce: few,
  },
  {
    table: "evaluation_results",
    key: ["id"],
    owner: ofAccount,
    texts: { table: "evaluation_payloads", column: "result_id", key: "id" },
    results: ["id"],
    rowsAtOnce: few,
  },
  {
    table: "evaluation_corrections",
    key: ["id"],
    owner: ofAccount,
    users: ["user_id"],
    results: ["result_id"],
    rowsAtOnce: many,
  },
  {
    table: "evaluation_labels",
    key: ["id"],
    owner: ofAccount,
    users: ["user_id"],
    results: ["result_id"],
    rowsAtOnce: many,
  },
  {
    table: "label_samples",
    key: ["id"],
    owner: ofAccount,
    owns: { as: "label_samples", column: "id" },
    users: ["created_by"],
    rowsAtOnce: many,
  },
  {
    table: "label_sample_items",
    key: ["position"],
    owner: { of: "label_samples", column: "sample_id" },
    results: ["result_id"],
    rowsAtOnce: many,
  },
  {
    table: "run_verdicts",
    key: ["evaluator", "position", "repeat"],
    owner: { of: "runs", column: "run_id" },
    results: ["result_id"],
    rowsAtOnce: many,
  },
  {
    table: "usage_counts",
    key: ["hour", "key_id", "operation", "outcome"],
    owner: ofAccount,
    maybeUser: "key_id",
    rowsAtOnce: many,
  },
  {
    table: "usage_model_tokens",
    key: ["hour", "key_id", "operation", "model"],
    owner: ofAccount,
    maybeUser: "key_id",
    rowsAtOnce: many,
  },
  { table: "audit_events", key: ["id"], owner: ofAccount, users: ["actor_user_id"], rowsAtOnce: many },
  { table: "usage_latencies", key: ["hour", "measure", "bucket"], owner: ofAccount, rowsAtOnce: many },
];
