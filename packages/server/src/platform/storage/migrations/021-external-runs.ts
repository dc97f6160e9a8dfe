import { type Kysely, type Migration, sql } from "kysely";

/** Nobody works on what a client makes: its lease never runs out. */
const never = Number.MAX_SAFE_INTEGER;

/** Whose versions are not known. */
const provenance = JSON.stringify({
  presage_version: "unknown",
  prompt_version: null,
  dataset_digest: null,
  models: [],
  in_sample: false,
});

/** Experiments are runs that a client makes. */
export const externalRuns: Migration = {
  async up(db: Kysely<unknown>) {
    await sql`insert into runs (id, account_id, name, status, target_kind, target, mode, evaluators, repeats,
        concurrency, tags, project_id, metadata, samples, predicted, evaluated, failed, provenance, notes, lease_until,
        created_by, created_at, started_at)
      select experiment.id, experiment.account_id, experiment.name, 'running', 'external', '{"kind":"external"}',
        'teacher-forced', '[]', 1, 1, experiment.tags, project_id, metadata, 0, 0, 0, 0, ${sql.lit(provenance)}, '[]',
        ${sql.lit(never)}, project.created_by, experiment.created_at, experiment.created_at
      from experiments as experiment inner join projects as project on project.id = project_id`.execute(db);
    await db.schema.dropTable("experiments").execute();
    await db.schema.alterTable("predictions").addColumn("sent_model", "text").execute();
    await sql`create index runs_external on runs (account_id, created_at, id)
      where target_kind = 'external'`.execute(db);
    await sql`create index runs_of_a_project on runs (account_id, project_id, created_at, id)
      where target_kind = 'external'`.execute(db);
    // Those with a verdict have such indexes already.
    for (const column of ["run_id", "experiment_id"]) {
      await sql`create index ${sql.ref(`evaluation_results_without_verdict_by_${column}`)}
        on evaluation_results (account_id, ${sql.ref(column)}, id)
        where status <> 'success' and ${sql.ref(column)} is not null`.execute(db);
    }
  },
};
