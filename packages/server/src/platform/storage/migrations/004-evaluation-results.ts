import { type Kysely, type Migration, sql } from "kysely";
import { isPostgres } from "../store.ts";
import { withoutRowid } from "./without-rowid.ts";

/** The filters of a search that are an equality; each has the index that serves it in the order of ids. */
const searchedColumns = [
  "app",
  "evaluator_id",
  "evaluator_family",
  "profile_name",
  "profile_public_id",
  "explain_strategy",
  "dataset_id",
  "run_id",
  "counted_pass",
  "score_mille",
] as const;

export const evaluationResults: Migration = {
  async up(db: Kysely<unknown>) {
    await createClock(db);
    await createResults(db);
    await createPayloads(db);
    await createTags(db);
    await createCorrections(db);
    await createRollups(db);
  },
};

async function createClock(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("evaluation_clock")
    .addColumn("last_id", "bigint", (column) => column.notNull())
    .addColumn("last_created_at", "bigint", (column) => column.notNull())
    .execute();
  await sql`insert into evaluation_clock (last_id, last_created_at) values (0, 0)`.execute(db);
}

async function createResults(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("evaluation_results")
    .addColumn("id", idType(db), (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("app", "text", (column) => column.notNull())
    .addColumn("evaluator_id", "text", (column) => column.notNull())
    .addColumn("evaluator_family", "text")
    .addColumn("profile_name", "text")
    .addColumn("profile_public_id", "text")
    .addColumn("profile_revision", "integer")
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("explain_strategy", "text", (column) => column.notNull())
    .addColumn("dataset_id", "text")
    .addColumn("run_id", "text")
    .addColumn("is_external", "integer", (column) => column.notNull())
    .addColumn("pass", "integer")
    .addColumn("score", "double precision")
    .addColumn("counted_pass", "integer")
    .addColumn("counted_score", "double precision")
    .addColumn("score_mille", "integer")
    .addColumn("request_key", "text")
    .execute();

  await db.schema
    .createIndex("evaluation_results_by_time")
    .on("evaluation_results")
    .columns(["created_at", "id"])
    .execute();
  await createIndexOfVerdicts(db, "id", sql`account_id, id`);
  for (const column of searchedColumns) {
    await createIndexOfVerdicts(db, column, sql`account_id, ${sql.ref(column)}, id`);
  }
  // A search by score asks for whole steps of 40 thousandths where it can, and for single thousandths at its two ends.
  await createIndexOfVerdicts(db, "score_step", sql`account_id, (score_mille / 40), id`);
  await sql`
    create unique index evaluation_results_by_request_key on evaluation_results (account_id, request_key)
    where request_key is not null
  `.execute(db);
  await sql`
    create index evaluation_results_without_verdict on evaluation_results (account_id, status, id)
    where status <> 'success'
  `.execute(db);
}

/** Searches look at verdicts unless they ask for a status, so that failures in between cost them nothing. */
async function createIndexOfVerdicts(
  db: Kysely<unknown>,
  name: string,
  columns: ReturnType<typeof sql>,
): Promise<void> {
  const index = sql.ref(`evaluation_results_by_${name}`);
  const isOftenNull = name === "dataset_id" || name === "run_id";
  const onlyWhereSet = isOftenNull ? sql` and ${sql.ref(name)} is not null` : sql``;
  await sql`create index ${index} on evaluation_results (${columns}) where status = 'success'${onlyWhereSet}`.execute(
    db,
  );
}

async function createPayloads(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("evaluation_payloads")
    .addColumn("result_id", idType(db), (column) => column.primaryKey())
    .addColumn("system_prompt", "text")
    .addColumn("retrieved_context", "text")
    .addColumn("input", "text")
    .addColumn("output", "text")
    .addColumn("gold_answer", "text")
    .addColumn("error_message", "text")
    .addColumn("explanation", "text")
    .addColumn("evaluation_micros", "bigint")
    .addColumn("explanation_micros", "bigint")
    .addColumn("additional_info", "text")
    .addColumn("dataset_sample_id", "text")
    .addColumn("run_project_id", "text")
    .addColumn("evaluated_model", "text")
    .addColumn("tags", "text")
    .execute();
}

async function createTags(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("evaluation_tags")
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("value", "text", (column) => column.notNull())
    .addColumn("result_id", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("evaluation_tags_of_a_value", ["account_id", "name", "value", "result_id"])
    .modifyEnd(withoutRowid(db))
    .execute();
}

async function createCorrections(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("evaluation_corrections")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("result_id", "bigint", (column) => column.notNull().references("evaluation_results.id"))
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("profile_public_id", "text")
    .addColumn("user_id", "text", (column) => column.notNull())
    .addColumn("pass", "integer", (column) => column.notNull())
    .addColumn("score", "double precision")
    .addColumn("comment", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("evaluation_corrections_of_a_result")
    .on("evaluation_corrections")
    .columns(["result_id", "created_at", "id"])
    .execute();
  await db.schema
    .createIndex("evaluation_corrections_of_a_profile")
    .on("evaluation_corrections")
    .columns(["account_id", "profile_public_id", "created_at", "id"])
    .execute();
}

async function createRollups(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("evaluation_series")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("app", "text", (column) => column.notNull())
    .addColumn("evaluator_id", "text", (column) => column.notNull())
    .addColumn("evaluator_family", "text", (column) => column.notNull())
    .addColumn("profile_name", "text", (column) => column.notNull())
    .addColumn("profile_public_id", "text", (column) => column.notNull())
    .addColumn("profile_revision", "integer", (column) => column.notNull())
    .addColumn("spans_runs", "integer", (column) => column.notNull())
    .addColumn("run_id", "text", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("evaluation_series_of_an_app")
    .on("evaluation_series")
    .columns(["account_id", "spans_runs", "app"])
    .execute();
  await db.schema
    .createIndex("evaluation_series_of_an_evaluator")
    .on("evaluation_series")
    .columns(["account_id", "evaluator_id", "profile_public_id", "profile_revision"])
    .execute();
  await db.schema
    .createTable("evaluation_counts")
    .addColumn("series_id", "text", (column) => column.notNull().references("evaluation_series.id"))
    .addColumn("day", "integer", (column) => column.notNull())
    .addColumn("verdict", "text", (column) => column.notNull())
    .addColumn("score_mille", "integer", (column) => column.notNull())
    .addColumn("count", "bigint", (column) => column.notNull())
    .addColumn("score_sum", "double precision", (column) => column.notNull())
    .addColumn("score_sum_of_squares", "double precision", (column) => column.notNull())
    .addPrimaryKeyConstraint("evaluation_counts_of_a_day", ["series_id", "day", "verdict", "score_mille"])
    .modifyEnd(withoutRowid(db))
    .execute();
}

/** On SQLite only a primary key of exactly the type `integer` is the row's own number; on PostgreSQL that has 32 bits. */
function idType(db: Kysely<unknown>): "bigint" | "integer" {
  return isPostgres(db) ? "bigint" : "integer";
}
