import { type Kysely, type Migration, sql } from "kysely";

export const idempotentRequests: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("idempotent_requests")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("request_digest", "text", (column) => column.notNull())
      .addColumn("receipt", "text", (column) => column.notNull())
      .addColumn("created_at", "bigint", (column) => column.notNull())
      .execute();
    await db.schema
      .createIndex("idempotent_requests_by_age")
      .on("idempotent_requests")
      .column("created_at")
      .execute();
    // A user's active keys are counted with each new one, and revoked ones stay for good.
    await sql`create index api_keys_not_revoked on api_keys (user_id) where revoked_at is null`.execute(db);
  },
};
