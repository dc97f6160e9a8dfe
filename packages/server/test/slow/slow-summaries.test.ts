import { afterAll, beforeAll, expect, test } from "bun:test";
import { sql } from "kysely";
import {
  type PresageWithTwoAccounts,
  startPresageWithTwoAccounts,
} from "../support/presage/presage-with-two-accounts.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";

const results = 16_000;
/** Concurrent summaries, many more than an account has turns. */
const many = 100;
/** If a search overtakes none, all but the few in progress come first; if it does, a slow machine may still let many through. */
const nearlyAll = many - 20;
/** A summary that no rollup serves: it reads every result. */
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

onAnyDatabase((database) => {
  let server: PresageWithTwoAccounts;

  beforeAll(async () => {
    const url = await database.create();
    await fill(url);
    server = await startPresageWithTwoAccounts(url);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const path = "/v1/evaluation-results";

  const made = () =>
    readMetric(
      server.presage,
      'presage_http_requests_total{route="/v1/evaluation-results/summary",status="200"}',
    );

  /** Starts summaries, and counts those that were answered. */
  function beginSummaries(signal?: AbortSignal) {
    let answered = 0;
    const all = Array.from({ length: many }, async () => {
      const response = await server.mine("POST", `${path}/summary`, summary, signal);
      answered += 1;
      return response.status;
    });
    return { all, answered: () => answered };
  }

  test("running summaries block no other account", async () => {
    const search = () => server.theirs("POST", `${path}/search`, {});
    // The server now knows their key, so that a search takes few steps.
    expect((await search()).status).toBe(200);
    const mine = beginSummaries();
    // The others are now in progress, or wait for their turn.
    await Promise.race(mine.all);
    expect((await search()).status).toBe(200);
    // In order of arrival, nearly all of the summaries would have come first.
    expect(mine.answered()).toBeLessThan(nearlyAll);
    expect(new Set(await Promise.all(mine.all))).toEqual(new Set([200]));
  }, 300_000);

  test("abandoned summaries that have not begun never do", async () => {
    const before = await made();
    const callers = new AbortController();
    const left = beginSummaries(callers.signal);
    await Promise.race(left.all);
    callers.abort();
    await Promise.allSettled(left.all);
    // If the abandoned requests had kept their places, this one would come after all of them.
    expect((await server.mine("POST", `${path}/summary`, summary)).status).toBe(200);
    expect((await made()) - before).toBeLessThan(nearlyAll);
  }, 300_000);
});
