import type { Kysely, Migration } from "kysely";
import { withoutRowid } from "./without-rowid.ts";

/** A table beside the counts, whose key would change otherwise: processes of the release before may still write them. */
export const usageByModel: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("usage_model_tokens")
      .addColumn("account_id", "text", (column) => column.notNull())
      .addColumn("hour", "integer", (column) => column.notNull())
      .addColumn("key_id", "text", (column) => column.notNull())
      .addColumn("operation", "text", (column) => column.notNull())
      .addColumn("model", "text", (column) => column.notNull())
      .addColumn("prompt_tokens", "bigint", (column) => column.notNull())
      .addColumn("completion_tokens", "bigint", (column) => column.notNull())
      .addColumn("upstream_cached_tokens", "bigint", (column) => column.notNull())
      .addPrimaryKeyConstraint("usage_model_tokens_of_an_hour", [
        "account_id",
        "hour",
        "key_id",
        "operation",
        "model",
      ])
      .modifyEnd(withoutRowid(db))
      .execute();
  },
};
