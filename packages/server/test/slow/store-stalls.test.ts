import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { eventually, expectEventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { seeded } from "../support/seeded.ts";
import { type Kind, kinds, type Ledger, makeFixtures, openLedger } from "../support/store/change-ledger.ts";
import { ensureTemplate } from "../support/store/ensure-template.ts";
import {
  connectTo,
  countLockWaits,
  createDatabaseAt,
  type PostgresServer,
  startPostgres,
} from "../support/store/postgres.ts";
import { startRelay } from "../support/store/relay.ts";
import { startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";

// These tests mostly wait, so they run concurrently. A change answered with 2xx must be stored exactly once; one answered with
// 503 must not be stored, unless reported as uncertain; counts must equal rows.

/** Longer than the timeout of a statement and its rollback. */
const lockMs = 22_000;
const silenceMs = 19_000;
/** The number of tables to lock, each in a database with its own server. For all of them: PRESAGE_TEST_STALLS=100. */
const locks = Number(process.env.PRESAGE_TEST_STALLS ?? 6);
/** The promise is 5 s, on an otherwise idle machine. Here the promise is only that everything recovers by itself. */
const recoveryMs = 180_000;
/** No one waits longer than for a connection and one response, 13 s, plus delays of the machine. */
const patienceMs = 180_000;
setDefaultTimeout(600_000);

let postgres: PostgresServer;
let template: string;
let frozen: PostgresServer;
let upstream: TestUpstream;
beforeAll(async () => {
  [postgres, frozen] = await Promise.all([startPostgres(), startPostgres()]);
  template = await ensureTemplate(postgres.url);
  upstream = startUpstream();
}, 300_000);
afterAll(async () => {
  await upstream.stop();
  await Promise.all([postgres.remove(), frozen.remove()]);
}, 300_000);

const createDatabase = () => createDatabaseAt(postgres.url, `template ${template}`);

/** Starts a server that reaches its database through a relay. */
async function startThroughRelay() {
  const direct = await createDatabase();
  const relay = await startRelay(Number(new URL(direct).port));
  const relayed = new URL(direct);
  relayed.port = String(relay.port);
  const environment = { PRESAGE_DATABASE_URL: relayed.href, PRESAGE_UPSTREAM_URL: upstream.url };
  return { direct, relay, presage: await startPresage(environment) };
}

/** Requests a change of each kind until all succeed, and returns how long that took. */
async function recover({ ask }: Ledger): Promise<number> {
  const startedAtMs = performance.now();
  for (;;) {
    const asked = await Promise.all(kinds.map((kind) => ask(kind)));
    const tookMs = performance.now() - startedAtMs;
    if (asked.every(({ status }) => status < 300) || tookMs > recoveryMs) return tookMs;
    await Bun.sleep(500);
  }
}

async function tablesOf(server: PostgresServer): Promise<string[]> {
  const url = await createDatabaseAt(server.url);
  await (await startPresage({ PRESAGE_DATABASE_URL: url, PRESAGE_UPSTREAM_URL: upstream.url })).stop();
  const client = await connectTo(url);
  const { rows } = await client.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public'",
  );
  await client.end();
  return rows.map(({ name }) => name).filter((name) => !name.startsWith("kysely_"));
}

/** Tables that the changes do not use: locks on them must not matter, except for background writes. */
const withoutChanges = new Set([
  "dataset_parts",
  "dataset_payloads",
  "dataset_revisions",
  "dataset_samples",
  "datasets",
  "error_finding_counts",
  "prediction_contexts",
  "prediction_payloads",
  "predictions",
  "projects",
  "run_verdicts",
  "runs",
  "sample_traits",
  "sessions",
  "settings",
  "sign_in_tokens",
  "usage_counts",
  "usage_latencies",
]);

/** What went wrong while some tables were locked. */
async function lockUnderLoad(tables: string[]): Promise<string[]> {
  const url = await createDatabase();
  const presage = await startPresage({ PRESAGE_DATABASE_URL: url, PRESAGE_UPSTREAM_URL: upstream.url });
  const ledger = openLedger(presage, await makeFixtures(presage));
  const holder = await connectTo(url);
  await holder.query(`begin; lock table ${tables} in access exclusive mode`);
  const stop = ledger.askUntilStopped(2_000);
  // The length of the stall is part of the test.
  await Bun.sleep(lockMs);
  await holder.query("rollback");
  await holder.end();
  const tookMs = await recover(ledger);
  await stop();
  const wrong = await ledger.contradictions(url);
  await presage.stop();
  if (tookMs > recoveryMs) wrong.push(`recovered after ${tookMs} ms`);
  const slowest = Math.max(...ledger.entries.map((entry) => entry.tookMs));
  if (slowest > patienceMs) wrong.push(`somebody waited ${slowest} ms`);
  return wrong.map((what) => `${tables}: ${what}`);
}

test.concurrent("a stored correction is not reported as failed, even if its texts cannot be read", async () => {
  const url = await createDatabase();
  const presage = await startPresage({ PRESAGE_DATABASE_URL: url, PRESAGE_UPSTREAM_URL: upstream.url });
  const ledger = openLedger(presage, await makeFixtures(presage));
  const [ofRow, ofTexts] = await Promise.all([connectTo(url), connectTo(url)]);
  await ofRow.query("begin; select id from evaluation_results for update");
  const asked = ledger.ask("correction");
  await expectEventually(() => countLockWaits(ofTexts), 1);
  await ofTexts.query("begin; lock table evaluation_payloads in access exclusive mode");
  await ofRow.query("rollback");
  expect((await asked).status).toBe(201);
  await ofTexts.query("rollback");
  expect(await ledger.contradictions(url)).toEqual([]);
  await Promise.all([ofRow.end(), ofTexts.end()]);
  await presage.stop();
});

test.concurrent(
  "a lock on any table, under load, keeps exactly the confirmed changes",
  seeded(async (draw) => {
    const tables = await tablesOf(postgres);
    expect(tables.length).toBeGreaterThan(20);
    const alone = tables.filter((table) => !withoutChanges.has(table));
    const drawn = alone
      .map((table) => ({ table, place: draw.below(1_000) }))
      .sort((one, other) => one.place - other.place)
      .slice(0, locks)
      .map(({ table }) => [table]);
    expect((await Promise.all([[...withoutChanges], ...drawn].map(lockUnderLoad))).flat()).toEqual([]);
  }),
);

test.concurrent("a process that freezes in a transaction blocks the others for at most 5 s", async () => {
  const url = await createDatabase();
  const environment = { PRESAGE_DATABASE_URL: url, PRESAGE_UPSTREAM_URL: upstream.url };
  await using peer = await spawnPresage(environment);
  await using other = await spawnPresage(environment);
  const fixtures = await makeFixtures(other);
  const [ledger, ledgerOfPeer] = [openLedger(other, fixtures), openLedger(peer, fixtures, "of the peer")];

  // The peer has its result number and waits for the counts table, whose lock it gets while frozen.
  const [holder, watcher] = [await connectTo(url), await connectTo(url)];
  await holder.query("begin; lock table evaluation_count_deltas");
  const asked = ledgerOfPeer.ask("evaluation");
  const waiting = () => countLockWaits(watcher, 'into "evaluation_results"');
  await expectEventually(waiting, 1);
  peer.kill("SIGSTOP");
  await holder.query("rollback");
  await holder.end();

  const startedAtMs = performance.now();
  const entries = await Promise.all(kinds.map((kind) => ledger.ask(kind)));
  expect(entries.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
  expect(performance.now() - startedAtMs).toBeLessThan(recoveryMs);

  const left = `select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'`;
  const isLeft = async () => (await watcher.query<{ waiting: number }>(left)).rows[0]?.waiting;
  await expectEventually(isLeft, 0);
  await watcher.end();
  peer.kill("SIGCONT");
  expect((await asked).status).toBe(503);
  expect(await recover(ledgerOfPeer)).toBeLessThan(recoveryMs);
  expect(await ledger.contradictions(url)).toEqual([]);
  expect(await ledgerOfPeer.contradictions(url)).toEqual([]);
});

test.concurrent("a database server frozen until every caller has an error loses no confirmed change, even with kill -9 afterwards", async () => {
  const url = await frozen.createDatabase();
  await using presage = await spawnPresage({
    PRESAGE_DATABASE_URL: url,
    PRESAGE_UPSTREAM_URL: upstream.url,
  });
  const keys = apiKeyClient(() => presage);
  const fixtures = await makeFixtures(presage);
  const ledger = openLedger(presage, fixtures);
  const revoked: string[] = [];
  for (let key = 0; key < 10; key++) revoked.push((await keys.create(`to be revoked ${key}`)).id);

  const askForRevisions = () => Array.from({ length: 12 }, () => ledger.ask("revision"));

  // Opens the maximum of connections.
  await Promise.all(askForRevisions());
  await frozen.freeze();
  const revisions = askForRevisions();
  expect((await Promise.all(revisions)).map(({ status }) => status)).toEqual(revisions.map(() => 503));
  await frozen.thaw();
  const made = await Promise.all(Array.from({ length: 10 }, () => ledger.ask("key")));
  expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
  expect(await Promise.all(revoked.map((id) => keys.revoke(id)))).toEqual(revoked.map(() => 204));
  presage.kill("SIGKILL");
  await presage.exited;

  expect(await ledger.contradictions(url)).toEqual([]);
  const client = await connectTo(url);
  const { rows } = await client.query(
    "select name from api_keys where revoked_at is null and name like 'to be revoked %'",
  );
  await client.end();
  expect(rows).toEqual([]);
});

test.concurrent("a connection that is silent for 19 s does not make callers wait one after another", async () => {
  const { direct, relay, presage } = await startThroughRelay();
  const ledger = openLedger(presage, await makeFixtures(presage));
  const stop = ledger.askUntilStopped(20);
  await eventually(
    () => ledger.entries.length,
    (count) => count > 2 * kinds.length,
  );
  relay.silence();
  const silentAtMs = performance.now();
  const asked: Promise<unknown>[] = [];
  while (performance.now() - silentAtMs < silenceMs) {
    for (const kind of ["evaluation", "key", "correction"] satisfies Kind[]) asked.push(ledger.ask(kind));
    // Callers keep coming during the silence, whose length is part of the test.
    await Bun.sleep(1_000);
  }
  relay.resume();
  const tookMs = await recover(ledger);
  await Promise.all(asked);
  await stop();
  expect(await ledger.contradictions(direct)).toEqual([]);
  expect(Math.max(...ledger.entries.map((entry) => entry.tookMs))).toBeLessThan(patienceMs);
  expect(tookMs).toBeLessThan(recoveryMs);
  await presage.stop();
  await relay.stop();
});

test.concurrent("a change whose commit is never confirmed is reported as uncertain, and not to be retried", async () => {
  const { direct, relay, presage } = await startThroughRelay();
  const ledger = openLedger(presage, await makeFixtures(presage));
  relay.holdAnswersTo("commit\0");
  const asked = await Promise.all(kinds.map((kind) => ledger.ask(kind)));
  expect(asked.map(({ status }) => status)).toEqual(kinds.map(() => 503));
  // The other requests queued behind one of these, and were rejected.
  const uncertain = asked.filter(({ isUncertain }) => isUncertain);
  expect(uncertain.map(({ kind }) => kind)).toContain("evaluation");
  expect(uncertain.length).toBeGreaterThan(2);
  relay.resume();
  expect(await recover(ledger)).toBeLessThan(recoveryMs);
  expect(await ledger.contradictions(direct)).toEqual([]);
  const counts = await ledger.timesKept(direct);
  expect(uncertain.map(({ kind, name }) => counts.get(`${kind}/${name}`))).toEqual(uncertain.map(() => 1));
  await presage.stop();
  await relay.stop();
});
