import type { Kysely, Migration } from "kysely";

export const orsSessions: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable("episodes").addColumn("error", "text").execute();
    await db.schema
      .createTable("ors_sessions")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull())
      .addColumn("wanted", "text", (column) => column.notNull())
      .addColumn("environment", "text")
      .addColumn("delivered_steps", "bigint", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("last_used_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("ors_sessions_by_last_use")
      .on("ors_sessions")
      .column("last_used_at")
      .execute();
  },
};
