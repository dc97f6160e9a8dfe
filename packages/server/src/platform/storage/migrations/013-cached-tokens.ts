import type { Kysely, Migration } from "kysely";

/** Processes of the release before, which write rows without it, may still run. */
export const cachedTokens: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable("usage_counts")
      .addColumn("cached_tokens", "bigint", (column) => column.notNull().defaultTo(0))
      .execute();
  },
};
