import { expect, test } from "bun:test";
import { hostname } from "node:os";
import { takeLease } from "../../src/platform/storage/leases.ts";
import type { Database } from "../../src/platform/storage/schema/tables.ts";
import { noCounts } from "../../src/runs/run.ts";
import { storeWork } from "../../src/runs/runner/work-store.ts";
import { selectRun } from "../../src/runs/runs-store.ts";
import { eventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { runPresage } from "../support/presage/run-presage.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { onAnyDatabase, onPostgres } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { storeRevision, storeRun } from "../support/store/store-run.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";
import { slowTest } from "../support/whole-run.ts";

const hourMicros = 3_600_000_000;

const samplesOf = (count: number) =>
  Array.from({ length: count }, (_, step) => ({
    trajectory_id: `t${step % 4}`,
    step: Math.floor(step / 4),
    interaction: { state: `state ${step}.`, action: "go on" },
    next_state: "next",
  }));

const broken = () => Response.json({ error: { message: "CUDA out of memory." } }, { status: 500 });
const answer = () => Response.json(completion("next"));

onPostgres((database) => {
  test("two runs of one revision store the traits of the same samples at the same time", async () => {
    const databaseUrl = await database.create();
    await using opened = await openStore(databaseUrl);
    await using other = await openStore(databaseUrl);
    const none = { trajectory: "t", step: 0 };
    for (let revision = 0; revision < 2; revision++) {
      const { account_id: accountId } = opened.owner;
      const stored = await storeRevision(opened.database, accountId, [none]);
      const traits = Array.from({ length: 2_000 }, (_, index) => ({
        ...{ revision_id: stored.revisionId, position: 2 + index, digest: `${index}` },
        ...{ changes: 0, verb: "go", tags: null },
      }));
      const work = { predictions: [], verdicts: [], counts: noCounts };
      const store = async (own: Database, of: typeof traits) => {
        const runId = await storeRun(own, accountId, stored, {
          status: "running",
          predictions: [[undefined]],
        });
        const lease = { lease_id: runId, lease_until: Number.MAX_SAFE_INTEGER };
        await own.updateTable("runs").set(lease).where("id", "=", runId).execute();
        return () => storeWork(own, { ...work, traits: of, runId, leaseId: runId });
      };
      const both = [await store(opened.database, traits), await store(other.database, traits.toReversed())];
      expect(await Promise.all(both.map((begin) => begin()))).toEqual([true, true]);
    }
  });
});

onAnyDatabase((database) => {
  const upstream = useUpstream();

  async function start() {
    const databaseUrl = await database.create();
    const environment = {
      PRESAGE_DATABASE_URL: databaseUrl,
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_MODEL: "m",
    };
    return { databaseUrl, presage: await startPresage(environment) };
  }

  async function startRun(presage: Parameters<typeof datasetClient>[0], count = 24, more = {}) {
    const datasets = datasetClient(presage);
    const dataset_id = await datasets.create();
    await datasets.uploadNew(dataset_id, samplesOf(count));
    return await runClient(presage).create({ dataset_id, target: { deployment: "default" }, ...more });
  }

  test("samples that never succeed while others do fail for good, and the run finishes", async () => {
    upstream.answer = ({ text }) => (/state (3|7|11|15|19|23)\./.test(text) ? broken() : answer());
    const { presage } = await start();
    const { id } = await startRun(presage);
    expect(await runClient(presage).end(id, 60_000)).toMatchObject({
      status: "finished",
      status_reason: null,
      progress: { predicted: 18, failed_predictions: 6, evaluated: 24 },
    });
    const report = await presage.call("GET", `/v1/runs/${id}/report`);
    expect(await report.json()).toMatchObject({
      preliminary: false,
      failures: { predictions: { upstream: 6 } },
    });
    await presage.stop();
  }, 90_000);

  test("an outage in the middle of a run fails no sample", async () => {
    upstream.received.length = 0;
    upstream.answer = async () => {
      await Bun.sleep(20);
      return upstream.received.length > 40 ? broken() : answer();
    };
    const { presage } = await start();
    const { id } = await startRun(presage, 80);
    const away = await eventually(
      () => runClient(presage).read(id),
      ({ status }) => status === "paused",
      30_000,
    );
    expect(away.status_reason).toMatch(/failed \d+ times in a row: The upstream/);
    upstream.answer = answer;
    expect(await runClient(presage).end(id, 60_000)).toMatchObject({
      status: "finished",
      progress: { predicted: 80, failed: 0 },
    });
    await presage.stop();
  }, 90_000);

  test("a run of which all samples fail pauses with the reason; it can be tried again, and finished without them", async () => {
    upstream.answer = broken;
    const { databaseUrl, presage } = await start();
    const { read, change, end } = runClient(presage);
    const { id } = await startRun(presage, 3);
    const paused = async () =>
      await eventually(
        () => read(id),
        ({ status }) => status === "paused",
        30_000,
      );
    expect((await paused()).status_reason).toMatch(/times in a row: The upstream/);
    const asked = upstream.received.length;
    expect(await change(id, "resume")).toMatchObject({
      status: 200,
      body: { status: "running", status_reason: null },
    });
    await eventually(
      () => upstream.received.length,
      (count) => count >= asked + 3,
      10_000,
    );
    await paused();
    const report = await presage.call("GET", `/v1/runs/${id}/report?format=json`);
    expect(await report.json()).toMatchObject({ preliminary: true });
    const ran = await runPresage(["runs", "finish", id], { PRESAGE_DATABASE_URL: databaseUrl });
    expect(ran).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Finished without what is missing"),
    });
    expect(await end(id, 20_000)).toMatchObject({
      status: "finished",
      status_reason: null,
      progress: { predicted: 0, failed_predictions: 3, evaluated: 3 },
      provenance: { finished_early: true },
    });
    expect((await change(id, "finish")).status).toBe(200);
    await presage.stop();
  }, 90_000);

  test("a run that has not ended makes a comparison preliminary", async () => {
    upstream.answer = answer;
    const { presage } = await start();
    const { end, create, change } = runClient(presage);
    const { id, dataset_id } = await startRun(presage, 8);
    await end(id);
    upstream.answer = broken;
    const other = await create({ dataset_id, target: { deployment: "default" } });
    await change(other.id, "pause");
    const compare = async () =>
      await (await presage.call("GET", `/v1/comparisons?runs=${id},${other.id}`)).json();
    expect(await compare()).toMatchObject({ preliminary: true });
    await change(other.id, "cancel");
    expect(await compare()).toMatchObject({ preliminary: false });
    await presage.stop();
  }, 90_000);

  slowTest(
    "a lease that is longer than leases are, as after a clock was set back, holds nothing",
    async () => {
      upstream.answer = answer;
      const { databaseUrl, presage } = await start();
      await using store = await openStore(databaseUrl);
      const { create, end } = runClient(presage);
      const dataset_id = await datasetClient(presage).create();
      await datasetClient(presage).uploadNew(dataset_id, samplesOf(8));
      const { id } = await create({ dataset_id, target: { predictions: "imported" } });
      await store.database
        .updateTable("runs")
        .set({ status: "running", lease_id: "someone", lease_until: Date.now() * 1_000 + hourMicros })
        .where("id", "=", id)
        .execute();
      expect(await end(id, 20_000)).toMatchObject({ status: "finished", progress: { failed: 8 } });
      const upload = await create({ dataset_id, target: { predictions: "imported" } });
      await store.database
        .updateTable("runs")
        .set({ lease_id: "someone", lease_until: Date.now() * 1_000 + hourMicros })
        .where("id", "=", upload.id)
        .execute();
      const line = JSON.stringify({ index: 0, prediction: "next" });
      const sent = await presage.call("POST", `/v1/runs/${upload.id}/predictions`, line);
      expect([sent.status, await sent.text()]).toEqual([200, expect.any(String)]);
      expect(await end(upload.id, 20_000)).toMatchObject({ status: "finished", progress: { predicted: 1 } });
      await presage.stop();
    },
    90_000,
  );

  test("a lease of other work that is longer than it may be is taken, too", async () => {
    await using store = await openStore(await database.create());
    const take = (holder: string, forMs: number) =>
      takeLease(store.database, { name: "work", holder, forMs });
    expect(await take("one", 60_000)).toBe(true);
    expect(await take("two", 60_000)).toBe(false);
    expect(await take("two", 5_000)).toBe(true);
  });

  test("a run says that it waits for a process", async () => {
    upstream.answer = broken;
    const { databaseUrl, presage } = await start();
    const { id } = await startRun(presage);
    await presage.stop();
    await using store = await openStore(databaseUrl);
    await store.database
      .updateTable("runs")
      .set({ status: "running", status_reason: null, lease_until: 1 })
      .execute();
    const found = await selectRun(store.database, store.owner.account_id, id);
    expect(found?.status_reason).toStartWith("Waits for a process that works on it");
  }, 60_000);

  test("a run that is queued for long says what it waits for", async () => {
    const { databaseUrl, presage } = await start();
    const { id } = await startRun(presage, 1, { target: { predictions: "imported" } });
    await presage.stop();
    await using store = await openStore(databaseUrl);
    const reason = async () =>
      (await selectRun(store.database, store.owner.account_id, id))?.status_reason ?? undefined;
    const change = (columns: object) => store.database.updateTable("runs").set(columns).execute();
    expect(await reason()).toBeUndefined();
    await change({ created_at: Date.now() * 1_000 - 60_000_000 });
    expect(await reason()).toBe("Waits for its predictions.");
    await change({ target: JSON.stringify({ kind: "deployment", deployment: "default" }) });
    expect(await reason()).toStartWith("Waits for a process that works on it");
  }, 60_000);

  if (database.name === "SQLite")
    test("a run of a process that has ended says so at once, and is taken by the next one", async () => {
      const { databaseUrl, presage } = await start();
      await using store = await openStore(databaseUrl);
      const dataset_id = await datasetClient(presage).create();
      await datasetClient(presage).uploadNew(dataset_id, samplesOf(8));
      const { id } = await runClient(presage).create({ dataset_id, target: { predictions: "imported" } });
      const lease_id = `${hostname()}/${Bun.spawnSync(["true"]).pid}/ended`;
      const lease_until = Date.now() * 1_000 + 30_000_000;
      await presage.stop();
      await store.database.updateTable("runs").set({ status: "running", lease_id, lease_until }).execute();
      const shown = await runPresage(["runs", "show", id], { PRESAGE_DATABASE_URL: databaseUrl });
      expect(shown.stdout).toContain("Waits for a process");
      const next = await startPresage({ PRESAGE_DATABASE_URL: databaseUrl });
      expect(await runClient(next).end(id, 10_000)).toMatchObject({ status: "finished" });
      await next.stop();
    }, 60_000);
});
