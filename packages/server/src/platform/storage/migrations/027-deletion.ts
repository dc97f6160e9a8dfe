import { type Kysely, type Migration, sql } from "kysely";

/** Deletions that take long, and who works on what in the background: docs/decisions/0042-retention-and-deletion.md. */
export const deletion: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("leases")
      .addColumn("name", "text", (column) => column.primaryKey())
      .addColumn("holder", "text", (column) => column.notNull())
      .addColumn("until", "bigint", (column) => column.notNull())
      .execute();
    await createDeletions(db);
  },
};

async function createDeletions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("result_deletions")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("filter", "text", (column) => column.notNull())
    .addColumn("matched", "bigint", (column) => column.notNull())
    .addColumn("after_id", "bigint", (column) => column.notNull())
    .addColumn("up_to_id", "bigint", (column) => column.notNull())
    .addColumn("deleted", "bigint", (column) => column.notNull())
    .addColumn("created_by", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addColumn("finished_at", "bigint")
    .execute();
  await db.schema
    .createIndex("result_deletions_of_an_account")
    .on("result_deletions")
    .columns(["account_id", "created_at", "id"])
    .execute();
  await sql`create index result_deletions_to_work_on on result_deletions (created_at)
    where finished_at is null`.execute(db);
}
