import type { Kysely, Migration } from "kysely";
import { withoutRowid } from "./without-rowid.ts";

export const usage: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("usage_counts")
      .addColumn("account_id", "text", (column) => column.notNull())
      .addColumn("hour", "integer", (column) => column.notNull())
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("operation", "text", (column) => column.notNull())
      .addColumn("outcome", "text", (column) => column.notNull())
      .addColumn("requests", "bigint", (column) => column.notNull())
      .addColumn("prompt_tokens", "bigint", (column) => column.notNull())
      .addColumn("completion_tokens", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("usage_counts_of_an_hour", [
        "account_id",
        "hour",
        "key_id",
        "operation",
        "outcome",
      ])
      .modifyEnd(withoutRowid(db))
      .execute();
    await db.schema
      .createTable("usage_latencies")
      .addColumn("account_id", "text", (column) => column.notNull())
      .addColumn("hour", "integer", (column) => column.notNull())
      .addColumn("measure", "text", (column) => column.notNull())
      .addColumn("bucket", "integer", (column) => column.notNull())
      .addColumn("count", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("usage_latencies_of_an_hour", ["account_id", "hour", "measure", "bucket"])
      .modifyEnd(withoutRowid(db))
      .execute();
  },
};
