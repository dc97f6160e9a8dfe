import { expect, test } from "bun:test";
import { type Kysely, sql } from "kysely";
import { startPresage } from "../support/presage/presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openMigratedTo } from "../support/store/open-migrated-to.ts";
import { openStore } from "../support/store/open-store.ts";

const lastBefore = "008-session-issuers";
/** More than the migration reads at once. */
const results = 2_500;

onEachDatabase((database) => {
  test("Results of an earlier version belong to no project after an upgrade, and are in the order of their samples", async () => {
    const databaseUrl = await database.createEmpty();
    await using before = await openMigratedTo(databaseUrl, lastBefore);
    await fill(before);
    await openStore(databaseUrl).then(async (store) => {
      await sql`update evaluation_results set account_id = ${store.owner.account_id}`.execute(store.database);
      await store.destroy();
    });
    const presage = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl });
    const { search, searchAll, importAll } = evaluationResultsClient(() => presage);
    const order = "dataset_sample_id";
    const all = await searchAll({ order }, 1000);
    // Every third result has no sample; the samples of the others descend.
    const expected = Array.from({ length: results }, (_, index) => results - index).filter(
      (id) => id % 3 > 0,
    );
    expect(all).toEqual(expected);
    expect(await search({ order, limit: 1 })).toMatchObject([
      { project_id: null, experiment_id: null, evaluator_id: "external:theirs" },
    ]);
    const [id] = await importAll([
      { evaluator_id: "theirs", pass: true, dataset_sample_id: "-", experiment_id: "e" },
    ]);
    expect(await search({ order: "-dataset_sample_id", experiment_id: "e" })).toMatchObject([{ id }]);
    await presage.stop();
  }, 120_000);
});

async function fill(before: Kysely<unknown>): Promise<void> {
  const numbers = sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(results)}) select i from n) as numbers`;
  await sql`insert into evaluation_results (id, account_id, created_at, app, evaluator_id, status, explain_strategy, is_external)
    select i, 'account', i, 'before', 'theirs', 'success', 'never', 1 from ${numbers}`.execute(before);
  // JSON: a number, or a text.
  const sample = sql`case i % 3 when 0 then null when 1 then cast(${sql.lit(results)} - i as text)
    else '"' || (${sql.lit(results)} - i) || '"' end`;
  await sql`insert into evaluation_payloads (result_id, dataset_sample_id) select i, ${sample} from ${numbers}`.execute(
    before,
  );
  await sql`update evaluation_clock set last_id = ${sql.lit(results)}`.execute(before);
}
