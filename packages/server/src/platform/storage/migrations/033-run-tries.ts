import { type Kysely, type Migration, sql } from "kysely";

/** What became of a run's calls and answers. Null for runs whose version did not count it. */
export const runTries: Migration = {
  async up(db: Kysely<unknown>) {
    for (const name of ["truncated", "empty", "repaired"]) {
      await db.schema.alterTable("runs").addColumn(name, "integer").execute();
    }
    await db.schema.alterTable("runs").addColumn("tries", "text").execute();
    await db.schema
      .alterTable("runs")
      .addColumn("unpredicted", "integer", (column) => column.notNull().defaultTo(0))
      .execute();
    await sql`update runs set unpredicted = case when status = 'finished' then samples - predicted
      else (select count(*) from predictions where run_id = runs.id and predictions.status = 'failed') end
      where failed > 0`.execute(db);
  },
};
