import { type Kysely, type Migration, sql } from "kysely";

/** Predictions that were uploaded have neither. */
const ofUpstreams = ["deployment", "model"];

/**
 * Storing a prediction of a run took longer for its indexes than for itself. Lists of all, by source and by status share one now, and
 * what belongs to one run is found by the index of its positions: docs/decisions/0047-fewer-indexes-of-predictions.md.
 */
export const fewerPredictionIndexes: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createIndex("predictions_newest")
      .on("predictions")
      .columns(["account_id", "source", "status", "created_at", "id"])
      .execute();
    for (const column of ofUpstreams) {
      await db.schema.dropIndex(`predictions_by_${column}`).execute();
      await sql`create index ${sql.id(`predictions_by_${column}`)}
        on predictions (account_id, ${sql.id(column)}, created_at, id)
        where ${sql.id(column)} is not null`.execute(db);
    }
    for (const name of ["of_an_account", "by_source", "by_status", "by_run_id"]) {
      await db.schema.dropIndex(`predictions_${name}`).execute();
    }
  },
};
