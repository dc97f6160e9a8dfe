import type { Kysely, Migration } from "kysely";

export const errorTaxonomies: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("error_taxonomies")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("description", "text")
      .addColumn("last_revision", "integer", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("error_taxonomies_by_name", ["account_id", "name"])
      .execute();

    await db.schema
      .createTable("error_taxonomy_revisions")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("taxonomy_id", "text", (column) => column.notNull().references("error_taxonomies.id"))
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("revision", "integer", (column) => column.notNull())
      .addColumn("body", "text", (column) => column.notNull())
      .addColumn("metadata", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("error_taxonomy_revisions_by_number", ["taxonomy_id", "revision"])
      .execute();

    await db.schema
      .createIndex("error_taxonomy_revisions_newest_first")
      .on("error_taxonomy_revisions")
      .columns(["account_id", "created_at desc", "id desc"])
      .execute();

    await db.schema
      .createIndex("error_taxonomy_revisions_of_one_newest_first")
      .on("error_taxonomy_revisions")
      .columns(["taxonomy_id", "created_at desc", "id desc"])
      .execute();

    await db.schema
      .createTable("error_taxonomy_labels")
      .addColumn("taxonomy_id", "text", (column) => column.notNull().references("error_taxonomies.id"))
      .addColumn("label", "text", (column) => column.notNull())
      .addColumn("revision_id", "text", (column) =>
        column.notNull().references("error_taxonomy_revisions.id"),
      )
      .addColumn("position", "integer", (column) => column.notNull())
      .addPrimaryKeyConstraint("error_taxonomy_labels_once", ["taxonomy_id", "label"])
      .execute();

    await db.schema
      .createIndex("error_taxonomy_labels_of_a_revision")
      .on("error_taxonomy_labels")
      .columns(["revision_id", "position"])
      .execute();
  },
};
