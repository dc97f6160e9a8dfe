import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { open } from "node:fs/promises";
import { nowMicros } from "../../src/platform/storage/columns.ts";
import { eventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { runPresageProcess } from "../support/presage/run-presage.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { signInLocally } from "../support/sign-in/session.ts";
import { kinds, makeFixtures, openLedger } from "../support/store/change-ledger.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { connectTo } from "../support/store/postgres.ts";

// These tests mostly wait, so they run concurrently.

interface Warning {
  level: number;
  msg: string;
  code?: string;
}

/** The log's lines of level warning and above. */
async function warnings(presage: SpawnedPresage): Promise<Warning[]> {
  const lines = (await presage.stdout()).trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Warning).filter(({ level }) => level >= 40);
}

/** Their messages, without the warning at every start. An outage has a line for each of its reasons, here only one. */
async function storeLines(presage: SpawnedPresage): Promise<string[]> {
  const lines = (await warnings(presage)).filter(
    ({ msg }) => !msg.startsWith("PRESAGE_UPSTREAM_URL is not set"),
  );
  const reasons = lines.map(({ msg, code }) => `${msg} ${code}`);
  expect(reasons).toEqual([...new Set(reasons)]);
  return lines.map(({ msg }) => msg).filter((msg, index, all) => msg !== all[index - 1]);
}

/** Makes changes and reads, and returns the statuses of both. */
async function askAll(presage: SpawnedPresage): Promise<{ changes: Set<number>; reads: Set<number> }> {
  const fixtures = {
    revisionId: crypto.randomUUID(),
    profileId: crypto.randomUUID(),
    resultId: "1",
  };
  const ledger = openLedger(presage, fixtures);
  const stop = ledger.askUntilStopped(20);
  const reads = new Set<number>();
  while (ledger.entries.length <= 50) {
    for (const path of ["/v1/api-keys", "/v1/me", "/v1/apps", "/v1/evaluator-profiles", "/v1/usage"]) {
      reads.add((await presage.call("GET", path)).status);
    }
    reads.add((await presage.call("POST", "/v1/evaluation-results/search", {})).status);
    reads.add((await presage.call("POST", "/v1/evaluation-results/summary", {})).status);
  }
  await stop();
  return { changes: new Set(ledger.entries.map(({ status }) => status)), reads };
}

async function asOperator(url: string, ...statements: string[]): Promise<void> {
  const client = await connectTo(new URL("/postgres", url).href);
  for (const statement of statements) await client.query(statement);
  await client.end();
}

onAnyDatabase((database) => {
  if (database.name === "PostgreSQL") {
    test.concurrent("a read-only database gives 503, with a log line for each reason when it begins and one when it ends", async () => {
      const url = await database.create();
      const name = new URL(url).pathname.slice(1);
      await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: url });
      const fixtures = await makeFixtures(presage);
      const [signInAddress] = /http:\S+\/sign-in#[\w-]+/.exec(await presage.stderr()) ?? [];
      const browser = await signInLocally({ url: presage.url, signInAddress });
      await using store = await openStore(url);
      const longAgo = nowMicros() - 120_000_000;
      await store.database.updateTable("sessions").set({ last_seen_at: longAgo }).execute();
      const endSessions = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
      await asOperator(url, `alter database ${name} set default_transaction_read_only = on`, endSessions);

      const ledger = openLedger(presage, fixtures);
      const stop = ledger.askUntilStopped(20);
      const count = await eventually(
        () => ledger.entries.length,
        (entries) => entries > 20,
      );
      await stop();
      expect(count).toBeGreaterThan(20);
      expect(new Set(ledger.entries.map(({ status }) => status))).toEqual(new Set([503]));
      expect((await presage.call("GET", "/v1/api-keys")).status).toBe(200);
      expect((await browser.fetch(`${presage.url}/v1/me`)).status).toBe(200);
      expect(await storeLines(presage)).toEqual(["database unavailable"]);
      for (const args of [["serve"], ["keys", "create", "--name", "training"]]) {
        const { code, stderr } = await runPresageProcess(args, {
          PRESAGE_DATABASE_URL: url,
          PRESAGE_PORT: "0",
        });
        expect([code, stderr]).toEqual([
          1,
          "The database is unavailable (PRESAGE_DATABASE_URL): cannot execute INSERT in a read-only transaction\n",
        ]);
      }

      await asOperator(url, `alter database ${name} reset default_transaction_read_only`, endSessions);
      const asked = async () =>
        (await Promise.all(kinds.map((kind) => ledger.ask(kind)))).map(({ status }) => status);
      await eventually(asked, (statuses) => statuses.every((status) => status < 300));
      const both = ["database unavailable", "database available again"];
      const lines = async () => {
        await presage.call("GET", "/v1/api-keys");
        return await storeLines(presage);
      };
      expect(await eventually(lines, ({ length }) => length > 1, 20_000)).toEqual(both);
      expect(await ledger.contradictions(url)).toEqual([]);
    });
  }

  test.concurrent("a destroyed database gives 503, with a log line for each reason", async () => {
    const url = await database.create();
    await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: url });
    await makeFixtures(presage);
    if (database.name === "SQLite") await destroyFile(url.slice("sqlite:".length));
    else await asOperator(url, `drop database ${new URL(url).pathname.slice(1)} with (force)`);
    const { changes, reads } = await askAll(presage);
    expect([changes, reads]).toEqual([new Set([503]), new Set([503])]);
    expect(await storeLines(presage)).toEqual(["database unavailable"]);
  });

  test.concurrent("while another process holds the write locks, callers are rejected together, not one after another", async () => {
    const url = await database.create();
    const presage = await startPresage({ PRESAGE_DATABASE_URL: url });
    const ledger = openLedger(presage, await makeFixtures(presage));
    const release = await holdEverything(url);
    const asked = await Promise.all([...kinds, ...kinds, ...kinds, ...kinds].map((kind) => ledger.ask(kind)));
    await release();
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([503]));
    expect(Math.max(...asked.map(({ tookMs }) => tookMs))).toBeLessThan(20_000);
    expect(
      (await Promise.all(kinds.map((kind) => ledger.ask(kind)))).map(({ status }) => status < 300),
    ).toEqual(kinds.map(() => true));
    await presage.stop();
  });
});

/** Overwrites the whole file, like a failing disk. */
async function destroyFile(path: string): Promise<void> {
  {
    using database = new Database(path);
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const file = await open(path, "r+");
  const { size } = await file.stat();
  await file.write(Buffer.alloc(size, "broken"), 0, size, 0);
  await file.close();
}

/** Takes the locks that writers need, and returns a function that releases them. */
async function holdEverything(url: string): Promise<() => Promise<void>> {
  if (url.startsWith("sqlite:")) {
    const holder = new Database(url.slice("sqlite:".length));
    holder.run("begin immediate");
    return async () => {
      holder.run("rollback");
      holder.close();
    };
  }
  const holder = await connectTo(url);
  const { rows } = await holder.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public'",
  );
  await holder.query(`begin; lock table ${rows.map(({ name }) => name).join(", ")} in exclusive mode`);
  return async () => {
    await holder.query("rollback");
    await holder.end();
  };
}
