import type { Kysely, Migration } from "kysely";

export const apiKeyLimits: Migration = {
  async up(db: Kysely<unknown>) {
    for (const column of ["rate_limit_rpm", "max_in_flight"])
      await db.schema.alterTable("api_keys").addColumn(column, "integer").execute();
  },
};
