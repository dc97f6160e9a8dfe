import { expect, test } from "bun:test";
import { type Kysely, sql } from "kysely";
import { resultNumbers } from "../../src/platform/storage/sample-columns.ts";
import { isPostgres } from "../../src/platform/storage/store.ts";
import { startPresage } from "../support/presage/presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openMigratedTo } from "../support/store/open-migrated-to.ts";
import { openStore } from "../support/store/open-store.ts";

const lastBefore = "010-idempotent-requests";
/** More than the migration reads at once. */
const results = 4_500;
const trajectories = 45;

onEachDatabase((database) => {
  test("results of the previous version are in the clusters of their trajectories and samples after an upgrade", async () => {
    const databaseUrl = await database.createEmpty();
    await using before = await openMigratedTo(databaseUrl, lastBefore);
    await fill(before);
    await using opened = await openStore(databaseUrl);
    await sql`update evaluation_results set account_id = ${opened.owner.account_id}`.execute(opened.database);

    const presage = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl });
    const { summary, importAll } = evaluationResultsClient(() => presage);
    const clustersOf = async (app: string) =>
      (await summary({ app, after_id: 0 })).groups.map(({ count, clusters }) => [count, clusters]);
    expect(await clustersOf("trajectories")).toEqual([[results / 3, trajectories]]);
    expect(await clustersOf("samples")).toEqual([[results / 3, results / 6]]);
    expect(await clustersOf("neither")).toEqual([[results / 3, null]]);

    await importAll([
      {
        evaluator_id: "theirs",
        app: "trajectories",
        pass: true,
        dataset_id: "d",
        tags: { trajectory_id: "t1" },
      },
      { evaluator_id: "theirs", app: "samples", pass: true, dataset_sample_id: 1 },
    ]);
    expect(await clustersOf("trajectories")).toEqual([[results / 3 + 1, trajectories]]);
    expect(await clustersOf("samples")).toEqual([[results / 3 + 1, results / 6]]);
    await presage.stop();
  }, 120_000);
});

/** A third each: of trajectories in a dataset, of samples that were evaluated twice, and of neither. */
async function fill(before: Kysely<unknown>): Promise<void> {
  const numbers = sql`(with recursive n(i) as (select 0 union all select i + 1 from n where i < ${sql.lit(results - 1)}) select i from n) as numbers`;
  await sql`insert into evaluation_results (id, account_id, created_at, app, evaluator_id, status, explain_strategy, is_external,
      dataset_id, pass, counted_pass)
    select i + 1, 'account', ${sql.lit(Date.UTC(2026, 5, 1) * 1000)}, case i % 3 when 0 then 'trajectories' when 1 then 'samples' else 'neither' end,
      'theirs', 'success', 'never', 1, case when i % 3 = 0 then 'd' end, i % 2, i % 2 from ${numbers}`.execute(
    before,
  );
  await sql`insert into evaluation_payloads (result_id, dataset_sample_id, tags)
    select i + 1, case when i % 3 = 1 then cast(i / 6 as text) end,
      case when i % 3 = 0 then '{"a":"b","trajectory_id":"t' || ((i / 3) % ${sql.lit(trajectories)}) || '"}' when i % 3 = 2 then '{"about":"a \\"trajectory_id\\""}' end
    from ${numbers}`.execute(before);
  await (isPostgres(before)
    ? sql`select setval(${resultNumbers}, ${sql.lit(results)})`
    : sql`update evaluation_clock set last_id = ${sql.lit(results)}`
  ).execute(before);
}
