import { type Kysely, type Migration, sql } from "kysely";
import { withoutRowid } from "./without-rowid.ts";

export const runs: Migration = {
  async up(db: Kysely<unknown>) {
    await createPredictions(db);
    await createRuns(db);
    await createVerdicts(db);
    await createTraits(db);
  },
};

async function createPredictions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("predictions")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("source", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("run_id", "text")
    .addColumn("position", "bigint")
    .addColumn("repeat", "bigint")
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("error_category", "text")
    .addColumn("deployment", "text")
    .addColumn("model", "text")
    .addColumn("replica", "text")
    .addColumn("finish_reason", "text")
    .addColumn("prompt_tokens", "bigint", (column) => column.notNull())
    .addColumn("cached_tokens", "bigint", (column) => column.notNull())
    .addColumn("completion_tokens", "bigint", (column) => column.notNull())
    .addColumn("latency_micros", "bigint")
    .addColumn("api_key_id", "text")
    .addColumn("request_id", "text")
    .execute();
  await sql`create unique index predictions_of_a_run on predictions (run_id, position, repeat)
    where run_id is not null`.execute(db);
  await db.schema
    .createIndex("predictions_of_an_account")
    .on("predictions")
    .columns(["account_id", "created_at", "id"])
    .execute();
  await db.schema
    .createTable("prediction_payloads")
    .addColumn("prediction_id", "text", (column) => column.primaryKey())
    .addColumn("context_digest", "text")
    .addColumn("request", "text")
    .addColumn("output", "text")
    .addColumn("reasoning", "text")
    .addColumn("error_message", "text")
    .execute();
  await sql`create index prediction_payloads_of_a_context on prediction_payloads (context_digest)
    where context_digest is not null`.execute(db);
  await db.schema
    .createTable("prediction_contexts")
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("digest", "text", (column) => column.notNull())
    .addColumn("context", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("prediction_contexts_by_digest", ["account_id", "digest"])
    .execute();
}

async function createRuns(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("runs")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("status_reason", "text")
    .addColumn("paused_by", "text")
    .addColumn("target_kind", "text", (column) => column.notNull())
    .addColumn("target", "text", (column) => column.notNull())
    .addColumn("mode", "text", (column) => column.notNull())
    .addColumn("params", "text")
    .addColumn("evaluators", "text", (column) => column.notNull())
    .addColumn("repeats", "bigint", (column) => column.notNull())
    .addColumn("concurrency", "bigint", (column) => column.notNull())
    .addColumn("tags", "text")
    .addColumn("dataset_id", "text")
    .addColumn("revision_id", "bigint")
    .addColumn("revision", "bigint")
    .addColumn("project_id", "text")
    .addColumn("metadata", "text")
    .addColumn("samples", "bigint", (column) => column.notNull())
    .addColumn("predicted", "bigint", (column) => column.notNull())
    .addColumn("evaluated", "bigint", (column) => column.notNull())
    .addColumn("failed", "bigint", (column) => column.notNull())
    .addColumn("provenance", "text", (column) => column.notNull())
    .addColumn("notes", "text", (column) => column.notNull())
    .addColumn("lease_id", "text")
    .addColumn("lease_until", "bigint", (column) => column.notNull())
    .addColumn("created_by", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("started_at", "bigint")
    .addColumn("finished_at", "bigint")
    .execute();
  await db.schema
    .createIndex("runs_of_an_account")
    .on("runs")
    .columns(["account_id", "created_at", "id"])
    .execute();
  await db.schema
    .createIndex("runs_of_a_dataset")
    .on("runs")
    .columns(["dataset_id", "created_at", "id"])
    .execute();
  // What processes look for work in.
  await sql`create index runs_to_work_on on runs (lease_until)
    where status in ('queued', 'running', 'paused')`.execute(db);
  await sql`create index runs_to_sweep on runs (id) where status = 'deleted'`.execute(db);
}

async function createVerdicts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("run_verdicts")
    .addColumn("run_id", "text", (column) => column.notNull())
    .addColumn("evaluator", "bigint", (column) => column.notNull())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("repeat", "bigint", (column) => column.notNull())
    .addColumn("status", "text", (column) => column.notNull())
    .addColumn("pass", "integer")
    .addColumn("score", "double precision")
    .addColumn("unchanged_pass", "integer")
    .addColumn("unchanged_score", "double precision")
    .addColumn("result_id", "bigint")
    .addPrimaryKeyConstraint("run_verdicts_of_a_prediction", ["run_id", "evaluator", "position", "repeat"])
    .modifyEnd(withoutRowid(db))
    .execute();
}

async function createTraits(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("sample_traits")
    .addColumn("revision_id", "bigint", (column) => column.notNull())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("digest", "text", (column) => column.notNull())
    .addColumn("changes", "bigint")
    .addColumn("verb", "text", (column) => column.notNull())
    .addColumn("tags", "text")
    .addPrimaryKeyConstraint("sample_traits_by_position", ["revision_id", "position"])
    .modifyEnd(withoutRowid(db))
    .execute();
}
