import type { Role } from "@presage/contract";
import { sql } from "kysely";
import type { Micros } from "../platform/storage/columns.ts";
import type { Database, Tables } from "../platform/storage/schema/tables.ts";

/** By what rows of a table belong to an account: its own id, or the ids of the rows of another table that do. */
export type RowOwner =
  | "account"
  | "users"
  | "profiles"
  | "taxonomies"
  | "revisions"
  | "runs"
  | "environments"
  | "episodes";

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
    rowsAtOnce: many,
  },
  {
    table: "usage_model_tokens",
    key: ["hour", "key_id", "operation", "model"],
    owner: ofAccount,
    rowsAtOnce: many,
  },
  { table: "audit_events", key: ["id"], owner: ofAccount, users: ["actor_user_id"], rowsAtOnce: many },
  { table: "usage_latencies", key: ["hour", "measure", "bucket"], owner: ofAccount, rowsAtOnce: many },
];

/** A row as it is stored, by column. */
export type Row = Record<string, string | number | null>;

/** Some rows of one owner after a key, in the order of their keys. */
export async function selectRows(
  database: Database,
  { table, key, owner, onlyWhere, rowsAtOnce }: AccountTable,
  ownerId: string | number,
  after: Row | undefined,
): Promise<Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const isAfter =
    after === undefined ? sql`` : sql`and (${columns}) > (${sql.join(key.map((column) => after[column]))})`;
  const isWanted = onlyWhere === undefined ? sql`` : sql`and ${sql.raw(onlyWhere)}`;
  const { rows } = await sql<Row>`select * from ${sql.table(table)}
    where ${sql.ref(owner.column)} = ${ownerId} ${isAfter} ${isWanted}
    order by ${columns} limit ${rowsAtOnce}`.execute(database);
  return rows;
}

/** Rows by one of their columns. */
export async function selectTexts(
  database: Database,
  table: keyof Tables,
  column: string,
  keys: readonly (string | number | null | undefined)[],
): Promise<Map<string, Row>> {
  if (keys.length === 0) return new Map();
  const { rows } = await sql<Row>`select * from ${sql.table(table)}
    where ${sql.ref(column)} in (${sql.join(keys)})`.execute(database);
  return new Map(rows.map((row) => [String(row[column]), row]));
}

/** The numbers between which an account's results are; undefined: there are none. */
export async function selectResultNumbers(
  database: Database,
  accountId: string,
): Promise<{ first: number; last: number } | undefined> {
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    select min(id) as first, max(id) as last from evaluation_results where account_id = ${accountId}`.execute(
    database,
  );
  const [row] = rows;
  if (row === undefined || row.first === null || row.last === null) return undefined;
  return { first: Number(row.first), last: Number(row.last) };
}

export interface AccountUser {
  id: string;
  oidc_issuer: string;
  oidc_subject: string;
  email: string | null;
  name: string | null;
  role: Role;
  created_at: Micros;
}

/** An account's users, in an order that follows from who they are. */
export async function selectAccountUsers(database: Database, accountId: string): Promise<AccountUser[]> {
  const users = await database
    .selectFrom("users")
    .select(["id", "oidc_issuer", "oidc_subject", "email", "name", "role", "created_at"])
    .where("account_id", "=", accountId)
    .execute();
  const nameOf = (user: AccountUser) => `${user.oidc_issuer}\n${user.oidc_subject}`;
  return users.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** How many rows an account has in the tables that name it. */
export async function countRowsOf(database: Database, accountId: string): Promise<Map<string, number>> {
  const counted = new Map<string, number>();
  for (const { table, owner } of accountTables) {
    if (owner.of !== "account") continue;
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from ${sql.table(table)} where account_id = ${accountId}`.execute(database);
    counted.set(table, Number(rows[0]?.count ?? 0));
  }
  return counted;
}
