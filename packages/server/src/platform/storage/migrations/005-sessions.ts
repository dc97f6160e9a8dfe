import type { Kysely, Migration } from "kysely";

export const sessions: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("sessions")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull().references("users.id"))
      .addColumn("digest", "text", (column) => column.notNull().unique())
      .addColumn("user_agent", "text")
      .addColumn("id_token", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("last_seen_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("ended_at", "bigint")
      .execute();
    await db.schema
      .createIndex("sessions_newest_first")
      .on("sessions")
      .columns(["user_id", "created_at desc", "id desc"])
      .execute();
    await db.schema.createIndex("sessions_by_expiry").on("sessions").column("expires_at").execute();

    await db.schema
      .createTable("sign_in_tokens")
      .addColumn("digest", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull().references("users.id"))
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint", (column) => column.notNull())
      .addColumn("used_at", "bigint")
      .execute();
    await db.schema
      .createIndex("sign_in_tokens_by_expiry")
      .on("sign_in_tokens")
      .column("expires_at")
      .execute();
  },
};
