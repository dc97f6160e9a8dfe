import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import {
  type PresageWithTwoAccounts,
  startPresageWithTwoAccounts,
} from "../support/presage/presage-with-two-accounts.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

const results = 40_000;
/** Not served by a rollup: it reads every result. */
const summary = { score_raw_min: 0.001, group_by: ["app"] };

/** Stores many results of an account, without their texts. */
async function fill(databaseUrl: string): Promise<void> {
  await using store = await openStore(databaseUrl);
  await sql`
    with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(results)})
    insert into evaluation_results (id, account_id, created_at, app, evaluator_id, evaluator_family, profile_name,
      profile_public_id, profile_revision, status, explain_strategy, is_external, pass, score, counted_pass, counted_score,
      score_mille)
    select i, ${sql.lit(store.owner.account_id)}, 1790000000000000 + i, 'app ' || (i % 1000), 'exact-match-2026-11-21',
      'exact-match', 'system:default', 'p', 1, 'success', 'always', 0, 1, 0.5, 1, 0.5, 500
    from n`.execute(store.database);
}

onEachDatabase((database) => {
  let server: PresageWithTwoAccounts;

  beforeAll(async () => {
    const url = await database.create();
    await fill(url);
    server = await startPresageWithTwoAccounts(url);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const path = "/v1/evaluation-results";

  async function timeOf(call: Promise<Response>): Promise<number> {
    const startedAtMs = performance.now();
    expect((await call).status).toBe(200);
    return performance.now() - startedAtMs;
  }

  test("abandoned summaries block no one, and running ones do not block other accounts", async () => {
    const alone = await timeOf(server.mine("POST", `${path}/summary`, summary));

    const callers = new AbortController();
    const left = Array.from({ length: 60 }, () =>
      server.mine("POST", `${path}/summary`, summary, callers.signal).catch(() => "gone"),
    );
    await Bun.sleep(100);
    callers.abort();
    await Promise.all(left);
    const afterThem = await timeOf(server.mine("POST", `${path}/summary`, summary));

    const staying = Array.from({ length: 24 }, () => server.mine("POST", `${path}/summary`, summary));
    await Bun.sleep(100);
    const ofOther = await timeOf(server.theirs("POST", `${path}/search`, {}));
    for (const one of staying) expect((await one).status).toBe(200);

    // All sixty or twenty-four would take that many times as long as one, at most four at a time on two processors.
    expect(afterThem).toBeLessThan(12 * alone);
    expect(ofOther).toBeLessThan(10 * alone);
  }, 120_000);
});
