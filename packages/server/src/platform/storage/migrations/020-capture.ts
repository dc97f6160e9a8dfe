import { type Kysely, type Migration, sql } from "kysely";

/** Lists of predictions by one of these are newest first. */
const byColumn = ["source", "status", "deployment", "model"];
/** The same, where most predictions have none. */
const byRareColumn = ["run_id", "error_category", "api_key_id"];

export const capture: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable("api_keys").addColumn("capture", "text").execute();
    for (const column of byColumn) {
      await db.schema
        .createIndex(`predictions_by_${column}`)
        .on("predictions")
        .columns(["account_id", column, "created_at", "id"])
        .execute();
    }
    for (const column of byRareColumn) {
      await sql`create index ${sql.id(`predictions_by_${column}`)}
        on predictions (account_id, ${sql.id(column)}, created_at, id)
        where ${sql.id(column)} is not null`.execute(db);
    }
    // What is too old to be kept is found by it.
    await sql`create index predictions_live on predictions (created_at) where source = 'live'`.execute(db);
  },
};
