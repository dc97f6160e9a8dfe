import { type Kysely, type Migration, sql } from "kysely";
import { isPostgres } from "../store.ts";
import { withoutRowid } from "./without-rowid.ts";

export const datasets: Migration = {
  async up(db: Kysely<unknown>) {
    await createDatasets(db);
    await createRevisions(db);
    await createSamples(db);
    await createTexts(db);
  },
};

async function createDatasets(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("datasets")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("description", "text")
    .addColumn("tags", "text")
    .addColumn("last_revision", "bigint", (column) => column.notNull())
    .addColumn("created_by", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("datasets_by_name", ["account_id", "name"])
    .execute();
  await db.schema
    .createIndex("datasets_of_an_account")
    .on("datasets")
    .columns(["account_id", "created_at", "id"])
    .execute();
}

async function createRevisions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("dataset_revisions")
    .addColumn("id", isPostgres(db) ? "bigint" : "integer", (column) =>
      isPostgres(db) ? column.primaryKey().generatedAlwaysAsIdentity() : column.primaryKey().autoIncrement(),
    )
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("dataset_id", "text", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("number", "bigint")
    .addColumn("digest", "text")
    .addColumn("trajectories", "bigint")
    .addColumn("samples", "bigint", (column) => column.notNull())
    .addColumn("bytes", "bigint", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("touched_at", "bigint", (column) => column.notNull())
    .execute();
  // Both are null until the revision is sealed, and nulls are distinct.
  for (const column of ["number", "digest"]) {
    await db.schema
      .createIndex(`dataset_revisions_by_${column}`)
      .on("dataset_revisions")
      .columns(["dataset_id", column])
      .unique()
      .execute();
  }
  await db.schema
    .createIndex("dataset_revisions_to_sweep")
    .on("dataset_revisions")
    .columns(["state", "touched_at"])
    .execute();
  // The sum of the bytes is read from it alone.
  await db.schema
    .createIndex("dataset_revisions_of_an_account")
    .on("dataset_revisions")
    .columns(["account_id", "state", "bytes"])
    .execute();
}

async function createSamples(db: Kysely<unknown>): Promise<void> {
  // PostgreSQL would compare texts by the database's locale, which is slower and orders them differently.
  const byBytes = isPostgres(db) ? sql`text collate "C"` : sql`text`;
  await db.schema
    .createTable("dataset_samples")
    .addColumn("revision_id", "bigint", (column) => column.notNull())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("trajectory_id", byBytes, (column) => column.notNull())
    .addColumn("step", "bigint", (column) => column.notNull())
    .addColumn("sample_id", byBytes, (column) => column.notNull())
    .addColumn("bytes", "bigint", (column) => column.notNull())
    .addPrimaryKeyConstraint("dataset_samples_by_position", ["revision_id", "position"])
    .modifyEnd(withoutRowid(db))
    .execute();
  await db.schema
    .createIndex("dataset_samples_by_step")
    .on("dataset_samples")
    .columns(["revision_id", "trajectory_id", "step"])
    .unique()
    .execute();
  await db.schema
    .createIndex("dataset_samples_by_sample_id")
    .on("dataset_samples")
    .columns(["revision_id", "sample_id"])
    .unique()
    .execute();
}

/** With rowids on SQLite: long rows would make the keys' tree deep. */
async function createTexts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("dataset_payloads")
    .addColumn("revision_id", "bigint", (column) => column.notNull())
    .addColumn("position", "bigint", (column) => column.notNull())
    .addColumn("part", "text")
    .addColumn("body", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("dataset_payloads_by_position", ["revision_id", "position"])
    .execute();
  await db.schema
    .createTable("dataset_parts")
    .addColumn("revision_id", "bigint", (column) => column.notNull())
    .addColumn("digest", "text", (column) => column.notNull())
    .addColumn("previous", "text")
    .addColumn("text", "text", (column) => column.notNull())
    .addPrimaryKeyConstraint("dataset_parts_by_digest", ["revision_id", "digest"])
    .execute();
}
