import type { Kysely, Migration } from "kysely";

export const evaluatorProfiles: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("evaluator_profiles")
      .addColumn("public_id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("evaluator_family", "text", (column) => column.notNull())
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("last_revision", "integer", (column) => column.notNull())
      .addColumn("archived_at", "bigint")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("evaluator_profiles_by_name", ["account_id", "evaluator_family", "name"])
      .execute();

    await db.schema
      .createTable("evaluator_profile_revisions")
      .addColumn("public_id", "text", (column) => column.notNull().references("evaluator_profiles.public_id"))
      .addColumn("revision", "integer", (column) => column.notNull())
      .addColumn("config", "text", (column) => column.notNull())
      .addColumn("description", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("evaluator_profile_revisions_by_number", ["public_id", "revision"])
      .execute();
  },
};
