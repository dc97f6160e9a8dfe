import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApiKeyCreateResponse, ApiKeyListResponse } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { openRawClient, type RawClient } from "../support/presage/raw-client.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

const headers = { "x-api-key": testKey };
const body = JSON.stringify(prediction);
const predict = (client: RawClient) => client.send("POST", "/v1/predict", headers, body);

function slowUpstream(delayMs: number) {
  return startUpstream(async () => {
    await Bun.sleep(delayMs);
    return Response.json(completion("The door is open."));
  });
}

/** Calls over one connection until the server says that it closes it, or closes it between two calls. */
async function callUntilClosed(client: RawClient, statuses: number[]): Promise<void> {
  while (!client.isClosed()) {
    const response = await predict(client);
    statuses.push(response.status);
    if (response.headers.get("connection")?.toLowerCase() === "close") return;
  }
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`${signal} under load fails no call on an open connection, and the exit code is 0`, async () => {
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
    await Bun.sleep(1_000);
    const answeredBefore = statuses.length;
    presage.kill(signal);
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.filter(({ status }) => status === "rejected")).toStrictEqual([]);
    expect(statuses.filter((status) => status !== 200)).toStrictEqual([]);
    // Every connection had a call under way when the signal came.
    expect(statuses.length).toBeGreaterThanOrEqual(answeredBefore + clients.length);
    expect(await presage.exited).toBe(0);
    await upstream.stop();
  });
}

test("callers who call without a pause lose no call either, though each answer is there at once", async () => {
  const upstream = slowUpstream(0);
  await using presage = await spawnPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_DATABASE_URL: "sqlite::memory:",
  });
  const clients = await Promise.all(Array.from({ length: 64 }, () => openRawClient(presage.url)));
  const statuses: number[] = [];
  const calls = clients.map((client) => callUntilClosed(client, statuses));
  await Bun.sleep(500);
  presage.kill("SIGTERM");
  const outcomes = await Promise.allSettled(calls);
  expect(outcomes.filter(({ status }) => status === "rejected")).toStrictEqual([]);
  expect(statuses.filter((status) => status !== 200)).toStrictEqual([]);
  expect(await presage.exited).toBe(0);
  await upstream.stop();
});

test("while it stops, kept connections are told so and still answered, and then no new one is taken", async () => {
  const upstream = slowUpstream(2_500);
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
  await Bun.sleep(300);
  presage.kill("SIGTERM");
  await Bun.sleep(200);
  const lateCall = predict(late);
  const ready = await probing.send("GET", "/ready");
  expect(ready.status).toBe(503);
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
  const answers = await Promise.all([call, lateCall]);
  expect(answers.map(({ status }) => status)).toStrictEqual([200, 200]);
  expect(await presage.exited).toBe(0);
  await upstream.stop();
}, 30_000);

test("a key's last use is written at the stop", async () => {
  const directory = await mkdtemp(join(tmpdir(), "presage-stop-"));
  const environment = { PRESAGE_DATABASE_URL: `sqlite:${join(directory, "presage.db")}` };
  const used = { atMs: 0, keyId: "" };
  {
    await using presage = await spawnPresage(environment);
    const response = await presage.call("POST", "/v1/api-keys", { name: "used at the end" });
    const created = ApiKeyCreateResponse.parse(await response.json());
    used.keyId = created.id;
    // The first use is written at once, later ones every few seconds.
    await presage.call("GET", "/v1/me", undefined, { "x-api-key": created.key });
    await Bun.sleep(1_000);
    used.atMs = Date.now();
    expect((await presage.call("GET", "/v1/me", undefined, { "x-api-key": created.key })).status).toBe(200);
    presage.kill("SIGTERM");
    expect(await presage.exited).toBe(0);
  }
  await using presage = await spawnPresage(environment);
  const { data } = ApiKeyListResponse.parse(await (await presage.call("GET", "/v1/api-keys")).json());
  const lastUsedAt = data.find(({ id }) => id === used.keyId)?.last_used_at;
  expect(Date.parse(lastUsedAt ?? "never")).toBeGreaterThanOrEqual(used.atMs - 5);
  await rm(directory, { recursive: true });
}, 30_000);
