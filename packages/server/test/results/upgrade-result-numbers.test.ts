import { expect, test } from "bun:test";
import { type Kysely, sql } from "kysely";
import { startPresage } from "../support/presage/presage.ts";
import { evaluationResultsClient } from "../support/resources/evaluation-results.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openMigratedTo } from "../support/store/open-migrated-to.ts";
import { openStore } from "../support/store/open-store.ts";

const lastBefore = "008-session-issuers";
const results = 4_500;
const firstTime = Date.UTC(2026, 5, 1) * 1000;
const microsPerMinute = 60_000_000;

onEachDatabase((database) => {
  test("Results of the previous version are found by time after an upgrade, and new ones continue their numbers", async () => {
    const databaseUrl = await database.createEmpty();
    await using before = await openMigratedTo(databaseUrl, lastBefore);
    await fill(before);

    const accountId = await openStore(databaseUrl).then(async (store) => {
      await sql`update evaluation_results set account_id = ${store.owner.account_id}`.execute(store.database);
      await store.destroy();
      return store.owner.account_id;
    });
    expect(accountId).not.toBe("");
    const presage = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl });
    const { searchAll, importAll } = evaluationResultsClient(() => presage);
    const [id] = await importAll([{ evaluator_id: "theirs", app: "before", pass: true }]);
    // Some numbers have no result: a transaction was rolled back.
    expect(id).toBe(String(results + 11));
    const minute = (count: number) => new Date((firstTime + count * microsPerMinute) / 1000).toISOString();
    const between = { after_datetime: minute(1_990), before_datetime: minute(2_010) };
    expect(await searchAll({ app: "before", ...between, order: "created_at" }, 100)).toEqual(
      Array.from({ length: 19 }, (_, index) => 1_991 + index),
    );
    expect(await searchAll({ app: "before", after_datetime: minute(results - 1) }, 100)).toEqual([
      results + 11,
      results,
    ]);
    await presage.stop();
  }, 120_000);
});

async function fill(before: Kysely<unknown>): Promise<void> {
  const numbers = sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(results)}) select i from n) as numbers`;
  await sql`insert into evaluation_results (id, account_id, created_at, app, evaluator_id, status, explain_strategy, is_external)
    select i, 'account', ${sql.lit(firstTime)} + cast(i as bigint) * ${sql.lit(microsPerMinute)}, 'before', 'theirs', 'success', 'never', 1
    from ${numbers}`.execute(before);
  await sql`insert into evaluation_payloads (result_id) select i from ${numbers}`.execute(before);
  await sql`update evaluation_clock set last_id = ${sql.lit(results + 10)}`.execute(before);
}
