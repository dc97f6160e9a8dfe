import type { Kysely, Migration } from "kysely";

export const identity: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("settings")
      .addColumn("name", "text", (column) => column.primaryKey())
      .addColumn("value", "text", (column) => column.notNull())
      .execute();

    await db.schema
      .createTable("accounts")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("name", "text", (column) => column.notNull().unique())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();

    await db.schema
      .createTable("users")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull().references("accounts.id"))
      .addColumn("oidc_issuer", "text", (column) => column.notNull())
      .addColumn("oidc_subject", "text", (column) => column.notNull())
      .addColumn("email", "text")
      .addColumn("name", "text")
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addUniqueConstraint("users_by_identity", ["oidc_issuer", "oidc_subject"])
      .execute();

    await db.schema
      .createTable("api_keys")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("user_id", "text", (column) => column.notNull().references("users.id"))
      .addColumn("name", "text", (column) => column.notNull())
      .addColumn("digest", "text", (column) => column.notNull().unique())
      .addColumn("prefix", "text", (column) => column.notNull())
      .addColumn("last_four", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("expires_at", "bigint")
      .addColumn("revoked_at", "bigint")
      .addColumn("last_used_at", "bigint")
      .execute();

    await db.schema
      .createIndex("api_keys_newest_first")
      .on("api_keys")
      .columns(["user_id", "created_at desc", "id desc"])
      .execute();
  },
};
