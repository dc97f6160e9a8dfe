import type { Kysely, Migration } from "kysely";

/** Earlier users may do everything, as before. So may keys without scopes, within their user's role. */
export const rolesAndAudit: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable("users")
      .addColumn("role", "text", (column) => column.notNull().defaultTo("owner"))
      .execute();
    await db.schema.alterTable("api_keys").addColumn("scopes", "text").execute();
    await db.schema
      .createIndex("users_by_account")
      .on("users")
      .columns(["account_id", "created_at", "id"])
      .execute();
    await db.schema
      .createTable("audit_events")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("account_id", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .addColumn("action", "text", (column) => column.notNull())
      .addColumn("object_id", "text", (column) => column.notNull())
      .addColumn("actor_kind", "text", (column) => column.notNull())
      .addColumn("actor_user_id", "text")
      .addColumn("actor_id", "text")
      .addColumn("actor_name", "text")
      .addColumn("request_id", "text")
      .addColumn("detail", "text", (column) => column.notNull())
      .execute();
    for (const [name, column] of [
      ["time", undefined],
      ["action", "action"],
      ["actor", "actor_user_id"],
      ["object", "object_id"],
    ] as const)
      await db.schema
        .createIndex(`audit_events_by_${name}`)
        .on("audit_events")
        .columns(["account_id", ...(column === undefined ? [] : [column]), "created_at", "id"])
        .execute();
  },
};
