import { afterAll, beforeAll, expect, test } from "bun:test";
import pg from "pg";
import { createDatabaseAt, type PostgresServer, startPostgres } from "./support/postgres.ts";
import { startPresage } from "./support/presage.ts";
import { kinds, type LedgerEntry, makeFixtures, openLedger } from "./support/store-ledger.ts";
import { startUpstream, type TestUpstream } from "./support/upstream.ts";

// What is tested here waits, and does so at the same time.

/** Longer than a statement and the rollback after it used to be waited for. */
const lockMs = 25_000;
/** Promised are 5 s. */
const recoveryMs = 10_000;

let postgres: PostgresServer;
let upstream: TestUpstream;
beforeAll(async () => {
  postgres = await startPostgres();
  upstream = startUpstream();
}, 60_000);
afterAll(async () => {
  await upstream.stop();
  await postgres.remove();
}, 60_000);

const tables = [
  "accounts",
  "api_keys",
  "error_finding_counts",
  "error_taxonomies",
  "error_taxonomy_labels",
  "error_taxonomy_revisions",
  "evaluation_clock",
  "evaluation_corrections",
  "evaluation_counts",
  "evaluation_payloads",
  "evaluation_results",
  "evaluation_series",
  "evaluation_tags",
  "evaluator_profile_revisions",
  "evaluator_profiles",
  "settings",
  "sign_in_tokens",
  "sessions",
  "usage_counts",
  "usage_latencies",
  "users",
];

/** Asks for a change of each kind until all of them are made, and returns how long that took. */
async function recover(ask: (kind: (typeof kinds)[number]) => Promise<LedgerEntry>): Promise<number> {
  const startedAtMs = performance.now();
  for (;;) {
    const asked = await Promise.all(kinds.map(ask));
    const tookMs = performance.now() - startedAtMs;
    if (asked.every(({ status }) => status < 300) || tookMs > 3 * recoveryMs) return tookMs;
    await Bun.sleep(100);
  }
}

test.concurrent.each(tables)("a lock on %s", async (table) => {
  const url = await createDatabaseAt(postgres.url);
  const presage = await startPresage({ PRESAGE_DATABASE_URL: url, PRESAGE_UPSTREAM_URL: upstream.url });
  const ledger = openLedger(presage, await makeFixtures(presage));
  const holder = new pg.Client(url);
  await holder.connect();
  await holder.query(`begin; lock table ${table} in access exclusive mode`);
  const stop = ledger.askUntilStopped(1_000);
  await Bun.sleep(lockMs);
  await holder.query("rollback");
  await holder.end();
  const tookMs = await recover(ledger.ask);
  await stop();
  expect(await ledger.contradictions(url)).toEqual([]);
  expect(tookMs).toBeLessThan(recoveryMs);
  await presage.stop();
});
