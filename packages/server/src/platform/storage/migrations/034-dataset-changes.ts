import type { Kysely, Migration } from "kysely";

export const datasetChanges: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable("datasets").addColumn("change", "text").execute();
  },
};
