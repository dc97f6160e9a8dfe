import type { Kysely, Migration } from "kysely";

export const sessionIssuers: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable("sessions")
      // Nobody knows where the sessions that are there were signed in: an empty text fits no issuer, so they are over.
      .addColumn("issuer", "text", (column) => column.notNull().defaultTo(""))
      .execute();
  },
};
