import type { Kysely, Migration } from "kysely";

/** Accounts for which nothing more is stored: docs/decisions/0051-retention-beside-writes.md. */
export const closedAccounts: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable("closed_accounts")
      .addColumn("account_id", "text", (column) => column.primaryKey())
      .addColumn("closed_at", "bigint", (column) => column.notNull())
      .execute();
  },
};
