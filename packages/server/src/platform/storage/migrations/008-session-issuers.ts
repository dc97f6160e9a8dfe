import type { Kysely, Migration } from "kysely";

export const sessionIssuers: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable("sessions")
      // The issuers of existing sessions are unknown: an empty text matches none, so these sessions end.
      .addColumn("issuer", "text", (column) => column.notNull().defaultTo(""))
      .execute();
  },
};
