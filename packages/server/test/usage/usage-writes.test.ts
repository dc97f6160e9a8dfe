import { afterAll, expect, test } from "bun:test";
import { UsageResponse } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { startPresage } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { requestsIn, usageClient } from "../support/resources/usage.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { startPostgres } from "../support/store/postgres.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";
import { slowTest } from "../support/whole-run.ts";

/** Usage is written every 5 s, so at least one batch fails meanwhile. */
const outageMs = 5_500;

const evaluation = { evaluators: [{ evaluator: "exact-match" }], evaluated_model_output: "x" };

onAnyDatabase((database) => {
  const upstream = startUpstream();
  afterAll(() => upstream.stop());

  test("Counts of two processes add up, and are written before they exit", async () => {
    const url = await database.create();
    const environment = { PRESAGE_DATABASE_URL: url, PRESAGE_UPSTREAM_URL: upstream.url };
    await using one = await spawnPresage(environment);
    await using other = await spawnPresage(environment);
    const predictions = [one, other, one, other, one].map(({ call }) =>
      call("POST", "/v1/predict", prediction),
    );
    expect((await Promise.all(predictions)).map(({ status }) => status)).toEqual(Array(5).fill(200));
    for (const server of [one, other]) server.kill("SIGTERM");
    expect([await one.exited, await other.exited]).toEqual([0, 0]);
    const later = await startPresage(environment);
    const client = usageClient(() => later);
    const [{ data }, { overall }] = [await client.list(), await client.latency()];
    await later.stop();
    expect(requestsIn(data)).toBe(5);
    expect(overall.count).toBe(5);
  }, 300_000);

  test("A model's name that is no text keeps nothing of others back", async () => {
    const url = await database.create();
    const environment = {
      PRESAGE_DATABASE_URL: url,
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_CAPTURE: "all",
    };
    const first = await startPresage(environment);
    for (const model of [["x"], { length: 1 }, "one"]) {
      const { status } = await first.call("POST", "/v1/predict", { ...prediction, params: { model } });
      expect(status).toBe(200);
    }
    await first.stop();
    const later = await startPresage(environment);
    expect(requestsIn((await usageClient(() => later).list()).data)).toBe(3);
    const stored = await later.call("GET", "/v1/predictions");
    expect(((await stored.json()) as { data: unknown[] }).data).toHaveLength(3);
    await later.stop();
  });

  test("Latencies are measured with and without the upstream", async () => {
    const slow = startUpstream(async () => {
      await Bun.sleep(100);
      return Response.json(completion("The door is open."));
    });
    const url = await database.create();
    const environment = { PRESAGE_DATABASE_URL: url, PRESAGE_UPSTREAM_URL: slow.url };
    const first = await startPresage(environment);
    await first.call("POST", "/v1/predict", prediction);
    await first.call("POST", "/v1/predict", {});
    await first.call("POST", "/v1/evaluate", evaluation);
    await first.stop();
    const second = await startPresage(environment);
    const { overall } = await usageClient(() => second).latency();
    await second.stop();
    await slow.stop();
    expect(overall.count).toBe(1);
    expect(overall.total_ms?.p50).toBeGreaterThan(95);
    expect(overall.overhead_ms?.p50).toBeLessThan(overall.total_ms?.p50 ?? 0);
  });
});

slowTest(
  "Requests made while PostgreSQL was down are counted once it is back",
  async () => {
    const postgres = await startPostgres();
    const upstream = startUpstream();
    const presage = await startPresage({
      PRESAGE_DATABASE_URL: await postgres.createDatabase(),
      PRESAGE_UPSTREAM_URL: upstream.url,
    });
    const predict = async () => (await presage.call("POST", "/v1/predict", prediction)).status;
    expect(await predict()).toBe(200);
    await postgres.stop();
    const goneAtMs = performance.now();
    let predictions = 1;
    await eventually(
      async () => {
        expect(await predict()).toBe(200);
        predictions += 1;
      },
      () => performance.now() - goneAtMs > outageMs,
    );
    await postgres.start();
    const requests = async () => {
      const response = await presage.call("GET", "/v1/usage");
      return response.ok ? requestsIn(UsageResponse.parse(await response.json()).data) : 0;
    };
    expect(await eventually(requests, (counted) => counted >= predictions, 30_000)).toBe(predictions);
    await presage.stop();
    await upstream.stop();
    await postgres.remove();
  },
  120_000,
);
