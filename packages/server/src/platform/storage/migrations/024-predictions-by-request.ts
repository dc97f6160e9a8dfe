import { type Kysely, type Migration, sql } from "kysely";

export const predictionsByRequest: Migration = {
  async up(db: Kysely<unknown>) {
    // Predictions of runs have no request, and are not in it.
    await sql`create index predictions_by_request_id on predictions (account_id, request_id, created_at, id)
      where request_id is not null`.execute(db);
  },
};
