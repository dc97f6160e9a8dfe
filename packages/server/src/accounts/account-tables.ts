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
  key: readonly [string, ...string[]];
  owner: { of: RowOwner; column: string };
  /** Rows of other tables belong to these, by the first column of the key. */
  owns?: RowOwner;
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

type Rest = Omit<AccountTable, "table" | "key" | "owner" | "rowsAtOnce"> & Partial<Pick<AccountTable, "key">>;

const many = 500;
const few = 20;

function ofAccount(table: keyof Tables, rowsAtOnce: number, rest: Rest = {}): AccountTable {
  return { table, key: ["id"], owner: { of: "account", column: "account_id" }, rowsAtOnce, ...rest };
}

/** A table whose rows belong to those of another one, by a column. */
function below(of: RowOwner, column: string) {
  return (table: keyof Tables, rowsAtOnce: number, rest: Rest): AccountTable => ({
    table,
    key: ["id"],
    owner: { of, column },
    rowsAtOnce,
    ...rest,
  });
}

const ofRevision = below("revisions", "revision_id");
const ofEnvironment = below("environments", "environment_id");
const ofCheck = below("reality_checks", "check_id");
const createdBy = { users: ["created_by"] };
const ofPosition = { key: ["position"], revisions: ["revision_id"] } satisfies Rest;

/** In the order in which they are exported and stored: what a row names is stored before it. */
export const accountTables: readonly AccountTable[] = [
  below("users", "user_id")("api_keys", many, {
    users: ["user_id"],
    // Whoever has a digest could try keys against it. What was revoked, and when, is of the place that it was used at.
    without: ["digest", "revoked_at", "last_used_at"],
  }),
  ofAccount("budgets", many, { key: ["api_key_id"] }),
  ofAccount("error_taxonomies", many, { owns: "taxonomies" }),
  ofAccount("error_taxonomy_revisions", few),
  below("taxonomies", "taxonomy_id")("error_taxonomy_labels", many, { key: ["label"] }),
  ofAccount("evaluator_profiles", many, { key: ["public_id"], owns: "profiles" }),
  below("profiles", "public_id")("evaluator_profile_revisions", few, { key: ["revision"] }),
  ofAccount("projects", many, createdBy),
  ofAccount("datasets", many, createdBy),
  ofAccount("dataset_revisions", many, {
    owns: "revisions",
    onlyWhere: "state = 'sealed'",
    revisions: ["id"],
  }),
  ofRevision("dataset_samples", many, ofPosition),
  ofRevision("dataset_payloads", few, ofPosition),
  ofRevision("sample_traits", many, ofPosition),
  ofRevision("dataset_parts", few, { key: ["digest"], revisions: ["revision_id"] }),
  ofAccount("environments", many, { owns: "environments", ...createdBy }),
  ofEnvironment("environment_revisions", few, { key: ["revision"] }),
  ofEnvironment("environment_tasks", few, { key: ["split", "position"] }),
  ofAccount("worlds", many, { owns: "worlds", ...createdBy }),
  below("worlds", "world_id")("world_revisions", few, { key: ["revision"] }),
  ofAccount("reality_checks", many, { owns: "reality_checks", ...createdBy }),
  ofCheck("reality_episodes", many, { key: ["position"] }),
  ofCheck("reality_replays", many, { key: ["position"] }),
  ofCheck("reality_steps", few, { key: ["position", "step"] }),
  ofAccount("runs", few, {
    owns: "runs",
    onlyWhere: "status <> 'deleted'",
    ...createdBy,
    revisions: ["revision_id"],
    without: ["lease_id"],
  }),
  ofAccount("goals", many, createdBy),
  ofAccount("episodes", few, { owns: "episodes" }),
  below("episodes", "episode_id")("episode_steps", few, { key: ["step"] }),
  // The link leads to the place that it was made at, and works there alone.
  ofAccount("shares", many, { users: ["user_id"], without: ["digest", "expires_at"] }),
  ofAccount("prediction_contexts", few, { key: ["digest"] }),
  ofAccount("predictions", few, {
    texts: { table: "prediction_payloads", column: "prediction_id", key: "id" },
  }),
  ofAccount("evaluation_results", few, {
    texts: { table: "evaluation_payloads", column: "result_id", key: "id" },
    results: ["id"],
  }),
  ofAccount("evaluation_corrections", many, { users: ["user_id"], results: ["result_id"] }),
  ofAccount("evaluation_labels", many, { users: ["user_id"], results: ["result_id"] }),
  ofAccount("label_samples", many, { owns: "label_samples", ...createdBy }),
  below("label_samples", "sample_id")("label_sample_items", many, {
    key: ["position"],
    results: ["result_id"],
  }),
  below("runs", "run_id")("run_verdicts", many, {
    key: ["evaluator", "position", "repeat"],
    results: ["result_id"],
  }),
  ofAccount("usage_counts", many, { key: ["hour", "key_id", "operation", "outcome"], maybeUser: "key_id" }),
  ofAccount("usage_model_tokens", many, {
    key: ["hour", "key_id", "operation", "model"],
    maybeUser: "key_id",
  }),
  ofAccount("audit_events", many, { users: ["actor_user_id"] }),
  ofAccount("usage_latencies", many, { key: ["hour", "measure", "bucket"] }),
];
