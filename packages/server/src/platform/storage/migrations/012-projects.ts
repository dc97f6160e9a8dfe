import { type Kysely, type Migration, sql } from "kysely";
import { sampleKey } from "../sample-columns.ts";
import { isPostgres } from "../store.ts";

export const projects: Migration = {
  async up(db: Kysely<unknown>) {
    await createProjects(db);
    await createExperiments(db);
    // PostgreSQL would compare texts by the database's locale.
    const byBytes = isPostgres(db) ? sql`text collate "C"` : sql`text`;
    await db.schema.alterTable("evaluation_results").addColumn("project_id", "text").execute();
    await db.schema.alterTable("evaluation_results").addColumn("experiment_id", "text").execute();
    await db.schema.alterTable("evaluation_results").addColumn("sample_key", byBytes).execute();
    await addSampleKeys(db);
    for (const column of ["project_id", "experiment_id", "sample_key"]) {
      const index = sql.ref(`evaluation_results_by_${column}`);
      await sql`create index ${index} on evaluation_results (account_id, ${sql.ref(column)}, id)
        where status = 'success' and ${sql.ref(column)} is not null`.execute(db);
    }
    await sql`create index evaluation_results_without_verdict_by_sample_key
      on evaluation_results (account_id, status, sample_key, id)
      where status <> 'success' and sample_key is not null`.execute(db);
  },
};

async function createProjects(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("projects")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("created_by", "text", (column) => column.notNull())
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .addUniqueConstraint("projects_by_name", ["account_id", "name"])
    .execute();
  await db.schema
    .createIndex("projects_of_an_account")
    .on("projects")
    .columns(["account_id", "created_at", "id"])
    .execute();
}

async function createExperiments(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("experiments")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("account_id", "text", (column) => column.notNull())
    .addColumn("project_id", "text", (column) => column.notNull().references("projects.id"))
    .addColumn("name", "text", (column) => column.notNull())
    .addColumn("tags", "text")
    .addColumn("metadata", "text")
    .addColumn("created_at", "bigint", (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex("experiments_of_an_account")
    .on("experiments")
    .columns(["account_id", "created_at", "id"])
    .execute();
  await db.schema
    .createIndex("experiments_of_a_project")
    .on("experiments")
    .columns(["account_id", "project_id", "created_at", "id"])
    .execute();
}

const rowsAtOnce = 1_000;

/** Earlier results have their sample's id only as JSON. */
async function addSampleKeys(db: Kysely<unknown>): Promise<void> {
  let last = 0;
  for (;;) {
    const { rows } = await sql<{ result_id: number; dataset_sample_id: string }>`
      select result_id, dataset_sample_id from evaluation_payloads
      where result_id > ${last} and dataset_sample_id is not null
      order by result_id limit ${rowsAtOnce}`.execute(db);
    if (rows.length === 0) return;
    const keys = sql.join(
      rows.map(({ result_id, dataset_sample_id }) => {
        const id: number | string = JSON.parse(dataset_sample_id);
        return sql`(${sql.lit(result_id)}, ${sampleKey(id)})`;
      }),
    );
    await sql`with keys(id, sample_key) as (values ${keys})
      update evaluation_results set sample_key = keys.sample_key from keys where keys.id = evaluation_results.id`.execute(
      db,
    );
    last = rows.at(-1)?.result_id ?? last;
  }
}
