import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, expectEventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { openRawClient, type RawClient } from "../support/presage/raw-client.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { datasetClient } from "../support/resources/datasets.ts";
import { runClient } from "../support/resources/runs.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";
import { isWholeRun, slowTest } from "../support/whole-run.ts";

const headers = { "x-api-key": testKey };
const body = JSON.stringify(prediction);
const predict = (client: RawClient) => client.send("POST", "/v1/predict", headers, body);

function slowUpstream(delayMs: number) {
  return startUpstream(async () => {
    await Bun.sleep(delayMs);
    return Response.json(completion("The door is open."));
  });
}

/** Calls over one connection until the server announces that it closes it, or closes it between two calls. */
async function callUntilClosed(client: RawClient, statuses: number[]): Promise<void> {
  while (!client.isClosed()) {
    const response = await predict(client);
    statuses.push(response.status);
    if (response.headers.get("connection")?.toLowerCase() === "close") return;
  }
}

const signals = isWholeRun ? (["SIGTERM", "SIGINT"] as const) : (["SIGTERM"] as const);
for (const signal of signals) {
  test(`${signal} under load fails no call on an open connection, and exits with 0`, async () => {
    const upstream = slowUpstream(200);
    await using presage = await spawnPresage({
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_DATABASE_URL: "sqlite::memory:",
    });
    const clients = await Promise.all(Array.from({ length: 64 }, () => openRawClient(presage.url)));
    const statuses: number[] = [];
    const calls = clients.map(async (client, index) => {
      await Bun.sleep(index * 5);
      await callUntilClosed(client, statuses);
    });
    const answeredBefore = await eventually(
      () => statuses.length,
      (count) => count >= 2 * clients.length,
    );
    presage.kill(signal);
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.filter(({ status }) => status === "rejected")).toStrictEqual([]);
    expect(statuses.filter((status) => status !== 200)).toStrictEqual([]);
    // Every connection had a call in flight when the signal came.
    expect(statuses.length).toBeGreaterThanOrEqual(answeredBefore + clients.length);
    expect(await presage.exited).toBe(0);
    await upstream.stop();
  });
}

slowTest("callers without pauses lose no call either, though each response is immediate", async () => {
  const upstream = slowUpstream(0);
  await using presage = await spawnPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_DATABASE_URL: "sqlite::memory:",
  });
  const clients = await Promise.all(Array.from({ length: 64 }, () => openRawClient(presage.url)));
  const statuses: number[] = [];
  const calls = clients.map((client) => callUntilClosed(client, statuses));
  await eventually(
    () => statuses.length,
    (count) => count >= 10 * clients.length,
  );
  presage.kill("SIGTERM");
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.filter(({ status }) => status === "rejected")).toStrictEqual([]);
  expect(statuses.filter((status) => status !== 200)).toStrictEqual([]);
  expect(await presage.exited).toBe(0);
  await upstream.stop();
});

test("while it stops, kept-alive connections are served and told to close, and no new ones are accepted", async () => {
  const held = Promise.withResolvers<void>();
  const upstream = startUpstream(async () => {
    await held.promise;
    return Response.json(completion("The door is open."));
  });
  await using presage = await spawnPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_DATABASE_URL: "sqlite::memory:",
  });
  const calling = await openRawClient(presage.url);
  const probing = await openRawClient(presage.url);
  const late = await openRawClient(presage.url);
  expect((await probing.send("GET", "/ready")).status).toBe(200);
  expect((await late.send("GET", "/ready")).status).toBe(200);
  const call = predict(calling);
  await expectEventually(() => upstream.received.length, 1);
  presage.kill("SIGTERM");
  await eventually(presage.stdout, (log) => log.includes('"signal":"SIGTERM"'));
  const lateCall = predict(late);
  const ready = await probing.send("GET", "/ready");
  expect(ready.status).toBe(503);
  expect(ready.headers.get("retry-after")).toBe("1");
  expect(JSON.parse(ready.body)).toStrictEqual({ status: "stopping" });
  expect(ready.headers.get("connection")).toBe("close");
  const newcomer = () =>
    openRawClient(presage.url).then(
      ({ socket }) => {
        socket.destroy();
        return "taken";
      },
      () => "refused",
    );
  expect(await eventually(newcomer, (outcome) => outcome === "refused")).toBe("refused");
  held.resolve();
  const answers = await Promise.all([call, lateCall]);
  expect(answers.map(({ status }) => status)).toStrictEqual([200, 200]);
  expect(await presage.exited).toBe(0);
  await upstream.stop();
}, 300_000);

test("open pages do not hold up the stop: their event streams end, and idle connections are closed", async () => {
  await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: "sqlite::memory:" });
  const datasets = datasetClient(presage);
  const dataset_id = await datasets.create();
  await datasets.uploadNew(dataset_id, [
    { trajectory_id: "t", step: 0, ...prediction, next_state: "The door is open." },
  ]);
  // The run waits for an upload of predictions, and its event streams wait for the run.
  const { id } = await runClient(presage).create({ dataset_id, target: { predictions: "imported" } });
  const follow = () => presage.call("GET", `/v1/runs/${id}/events`);
  const streams = await Promise.all(Array.from({ length: 5 }, follow));
  const idle = await openRawClient(presage.url);
  expect((await idle.send("GET", "/ready")).status).toBe(200);
  presage.kill("SIGTERM");
  const texts = await Promise.all(streams.map((stream) => stream.text()));
  expect(texts.filter((text) => !text.startsWith("event: run\n"))).toStrictEqual([]);
  expect(await presage.exited).toBe(0);
  await expectEventually(idle.isClosed, true);
  expect(await presage.stdout()).not.toContain("cutOff");
}, 300_000);

slowTest(
  "a key's last use is written on stop",
  async () => {
    const directory = await mkdtemp(join(tmpdir(), "presage-stop-"));
    const environment = { PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}` };
    let presage = await spawnPresage(environment);
    const { create, find, use } = apiKeyClient(() => presage);
    const { id, key } = await create("used at the end");
    const lastUse = async () => Date.parse((await find(id))?.last_used_at ?? "never");
    // The first use is written immediately, later ones every few seconds.
    expect(await use(key)).toBe(200);
    const firstUseMs = await eventually(lastUse, Number.isFinite);
    const usedAtMs = Date.now();
    expect(await use(key)).toBe(200);
    presage.kill("SIGTERM");
    expect(await presage.exited).toBe(0);
    await presage[Symbol.asyncDispose]();
    presage = await spawnPresage(environment);
    expect(await lastUse()).toBeGreaterThan(firstUseMs);
    expect(await lastUse()).toBeGreaterThanOrEqual(usedAtMs - 5);
    await presage[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  },
  120_000,
);
