import type { Kysely, Migration } from "kysely";

/** The key that started a run, which its requests are counted for. */
export const keysOfRuns: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable("runs").addColumn("api_key_id", "text").execute();
  },
};
