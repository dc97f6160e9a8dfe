import type { Kysely, Migration } from "kysely";

export const errorFindings: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("error_finding_counts")
      .addColumn("account_id", "text", (column) => column.notNull())
      .addColumn("revision_id", "text", (column) => column.notNull())
      .addColumn("day", "integer", (column) => column.notNull())
      .addColumn("path_id", "text", (column) => column.notNull())
      .addColumn("path", "text", (column) => column.notNull())
      .addColumn("count", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("error_finding_counts_of_a_day", [
        "account_id",
        "revision_id",
        "day",
        "path_id",
      ])
      .execute();
  },
};
