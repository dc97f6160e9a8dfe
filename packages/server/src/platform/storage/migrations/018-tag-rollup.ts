import { type Kysely, type Migration, sql } from "kysely";
import { isPostgres } from "../store.ts";
import { withoutRowid } from "./without-rowid.ts";

/** Counts by tag, made from stored results afterwards: docs/decisions/0025-summaries-and-statements.md. */
export const tagRollup: Migration = {
  async up(db: Kysely<unknown>) {
    await createProgress(db);
    await createSeries(db);
    await db.schema
      .createTable("evaluation_tag_counts")
      .addColumn("series_id", "bigint", (column) => column.notNull())
      .addColumn("day", "integer", (column) => column.notNull())
      .addColumn("verdict", "text", (column) => column.notNull())
      .addColumn("score_mille", "integer", (column) => column.notNull())
      .addColumn("count", "bigint", (column) => column.notNull())
      .addColumn("score_sum", "double precision", (column) => column.notNull())
      .addColumn("score_sum_of_squares", "double precision", (column) => column.notNull())
      .addPrimaryKeyConstraint("evaluation_tag_counts_of_a_day", [
        "series_id",
        "day",
        "verdict",
        "score_mille",
      ])
      .modifyEnd(withoutRowid(db))
      .execute();
  },
};

/** Nothing is counted yet, however many results there are. */
async function createProgress(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("evaluation_tag_progress")
    .addColumn("up_to", "bigint", (column) => column.notNull())
    .execute();
  await sql`insert into evaluation_tag_progress (up_to) values (0)`.execute(db);
  await db.schema
    .createTable("evaluation_tag_names")
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("counted_up_to", "bigint")
    .addPrimaryKeyConstraint("evaluation_tag_names_of_an_account", ["account_id", "name"])
    .modifyEnd(withoutRowid(db))
    .execute();
  await sql`create index evaluation_tag_names_counted on evaluation_tag_names (account_id)
    where counted_up_to is null`.execute(db);
}

async function createSeries(db: Kysely<unknown>): Promise<void> {
  await withNumber(db, "evaluation_tag_values")
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("value", "text", (column) => column.notNull())
    .addUniqueConstraint("evaluation_tag_values_of_a_name", ["account_id", "name", "value"])
    .execute();
  await withNumber(db, "evaluation_tag_series")
    .addColumn("tag_id", "bigint", (column) => column.notNull())
    .addColumn("app", "text", (column) => column.notNull())
    .addColumn("evaluator_id", "text", (column) => column.notNull())
    .addColumn("evaluator_family", "text", (column) => column.notNull())
    .addColumn("profile_name", "text", (column) => column.notNull())
    .addColumn("profile_public_id", "text", (column) => column.notNull())
    .addColumn("profile_revision", "integer", (column) => column.notNull())
    .addUniqueConstraint("evaluation_tag_series_of_a_tag", [
      "tag_id",
      "app",
      "evaluator_id",
      "evaluator_family",
      "profile_name",
      "profile_public_id",
      "profile_revision",
    ])
    .execute();
}

/** A table whose rows have numbers of their own. */
function withNumber(db: Kysely<unknown>, name: string) {
  return db.schema
    .createTable(name)
    .addColumn("id", isPostgres(db) ? "bigint" : "integer", (column) =>
      isPostgres(db) ? column.primaryKey().generatedAlwaysAsIdentity() : column.primaryKey(),
    );
}
