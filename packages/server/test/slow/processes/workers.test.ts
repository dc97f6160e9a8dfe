import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DeploymentListResponse } from "@presage/contract";
import { eventually, expectEventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { testKey } from "../../support/presage/presage.ts";
import { readMetric } from "../../support/presage/read-metric.ts";
import { launchPresage, type SpawnedPresage } from "../../support/presage/spawn-presage.ts";
import { apiKeyClient } from "../../support/resources/api-keys.ts";
import { createPostgresDatabase } from "../../support/store/databases.ts";
import { completion, startUpstream } from "../../support/upstream/upstream.ts";

const upstream = startUpstream();
const interaction = { state: "s", action: "a" };
const predicted = 'presage_http_requests_total{route="/v1/predict",status="200"}';
/** Odd, so that the workers' shares differ. */
const memoryBudgetBytes = 134_217_729;
let directory: string;
let databaseUrl: string;
let deploymentsFile: string;
let server: SpawnedPresage;
let url: string;

/** Calls over a new connection, which any of the workers may get. */
function call(method: string, path: string, body?: unknown, headers = { "x-api-key": testKey }) {
  return fetch(url + path, {
    method,
    headers,
    keepalive: false,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
const predict = () => call("POST", "/v1/predict", { interaction });
const keys = apiKeyClient(() => ({ call }));
const metric = (name: string) => readMetric({ call }, name);

async function answeringProcess(): Promise<number> {
  const { data } = DeploymentListResponse.parse(await (await call("GET", "/v1/deployments")).json());
  return data[0]?.process_id ?? 0;
}

/** The workers that answer at least one of many calls. */
async function answeringProcesses(): Promise<number[]> {
  const seen = await Promise.all(Array.from({ length: 24 }, answeringProcess));
  return [...new Set(seen)].sort();
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

async function logLines(of: SpawnedPresage): Promise<Record<string, unknown>[]> {
  const lines = (await of.stdout()).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line));
}

/** Makes predictions that wait for the upstream until the returned function is called. */
async function holdPredictions(count: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const receivedBefore = upstream.received.length;
  upstream.answer = async () => {
    await promise;
    return Response.json(completion("done"));
  };
  const responses = Array.from({ length: count }, () =>
    predict().then(
      ({ status }) => status,
      () => "failed",
    ),
  );
  await expectEventually(() => upstream.received.length, receivedBefore + count);
  upstream.answer = () => Response.json(completion("done"));
  return { responses, release: resolve };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-workers-"));
  deploymentsFile = join(directory, "deployments.yaml");
  databaseUrl = await createPostgresDatabase();
  const deployment = `{ replicas: ["${upstream.url}"], model: m }`;
  await Bun.write(deploymentsFile, `default: wm\ndeployments:\n  wm: ${deployment}\n`);
  server = await launchPresage({
    PRESAGE_DATABASE_URL: databaseUrl,
    PRESAGE_DEPLOYMENTS: deploymentsFile,
    PRESAGE_WORKERS: "2",
    PRESAGE_PORT: "0",
    PRESAGE_MEMORY_BUDGET_BYTES: String(memoryBudgetBytes),
  });
  const ready = await eventually(
    async () => (await logLines(server)).find(({ msg }) => msg === "ready"),
    (line) => line !== undefined,
    120_000,
  );
  url = String(ready?.address);
}, 300_000);
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  await upstream.stop();
  await rm(directory, { recursive: true, force: true });
});

test("both workers answer on the port that the first one got, and the start is announced once", async () => {
  const pids = await eventually(answeringProcesses, ({ length }) => length === 2);
  expect(pids).toHaveLength(2);
  expect(pids).not.toContain(server.pid);
  const lines = await logLines(server);
  expect(lines.filter(({ msg }) => msg === "ready")).toEqual([
    expect.objectContaining({ address: url, workers: 2 }),
  ]);
  const ready = lines.filter(({ msg }) => msg === "the worker is ready");
  expect(ready.map(({ worker }) => worker).sort()).toEqual([1, 2]);
  expect(ready.map(({ processId }) => processId).sort()).toEqual(pids);
  expect((await server.stderr()).match(/is ready/g)).toHaveLength(1);
  expect((await server.stderr()).match(/This link signs in/g)).toHaveLength(1);
});

test("any worker shows the metrics of both together", async () => {
  const before = (await metric(predicted)) || 0;
  const statuses = await Promise.all(Array.from({ length: 24 }, async () => (await predict()).status));
  expect(statuses).toEqual(Array(24).fill(200));
  await expectEventually(() => metric(predicted), before + 24);
  for (let reading = 0; reading < 8; reading++) expect(await metric(predicted)).toBe(before + 24);
  expect(await metric("presage_overhead_seconds_count")).toBe(before + 24);
  // A worker that does not answer within a second is left out.
  await expectEventually(() => metric("presage_workers"), 2);
  expect(await metric("presage_memory_budget_bytes")).toBe(memoryBudgetBytes);
  expect(await metric(`presage_replica_up{deployment="wm",replica="${upstream.url}"}`)).toBe(1);
});

test("a key revoked through one worker is rejected by both at once", async () => {
  for (let round = 0; round < 5; round++) {
    const { id, key } = await keys.create(`round ${round}`);
    const uses = () => Promise.all(Array.from({ length: 16 }, () => keys.use(key)));
    expect(await uses()).toEqual(Array(16).fill(200));
    expect(await keys.revoke(id)).toBe(204);
    expect(await uses()).toEqual(Array(16).fill(401));
  }
});

test("SIGHUP makes both workers read the deployments again", async () => {
  const deployment = `{ replicas: ["${upstream.url}"], model: m }`;
  await Bun.write(deploymentsFile, `default: wm\ndeployments:\n  wm: ${deployment}\n  new: ${deployment}\n`);
  server.kill("SIGHUP");
  const knowNew = async () => {
    const lists = await Promise.all(
      Array.from({ length: 16 }, async () => await (await call("GET", "/v1/models")).text()),
    );
    return lists.every((list) => list.includes('"new"'));
  };
  await expectEventually(knowNew, true);
});

test("a worker that is killed is replaced, only its own calls fail, and no count falls", async () => {
  const pids = await eventually(answeringProcesses, ({ length }) => length === 2);
  const [victim = 0] = pids;
  const counted = await metric(predicted);
  const held = await holdPredictions(24);
  process.kill(victim, "SIGKILL");
  await expectEventually(() => isAlive(victim), false);
  // Until the other worker takes its place, all calls are answered.
  for (let attempt = 0; attempt < 20; attempt++) {
    expect((await call("GET", "/ready")).status).toBe(200);
    expect((await predict()).status).toBe(200);
    expect(await metric(predicted)).toBeGreaterThanOrEqual(counted + attempt);
  }
  held.release();
  const outcomes = await Promise.all(held.responses);
  const failed = outcomes.filter((outcome) => outcome !== 200);
  expect(new Set(failed)).toEqual(new Set(["failed"]));
  expect(failed.length).toBeLessThan(24);

  const after = await eventually(answeringProcesses, ({ length }) => length === 2);
  expect(after).toHaveLength(2);
  expect(after).not.toContain(victim);
  expect(await metric("presage_worker_restarts_total")).toBe(1);
  expect(await metric(predicted)).toBe(counted + 20 + 24 - failed.length);
  expect(await metric("presage_memory_budget_bytes")).toBe(memoryBudgetBytes);
  expect((await server.stderr()).match(/This link signs in/g)).toHaveLength(1);
});

test("a worker that is told to end leaves its counts, though nobody has read them", async () => {
  const [ends = 0] = await eventually(answeringProcesses, ({ length }) => length === 2);
  const counted = await metric(predicted);
  for (let call = 0; call < 20; call += 1) expect((await predict()).status).toBe(200);
  process.kill(ends, "SIGTERM");
  await expectEventually(() => isAlive(ends), false);
  expect(await metric(predicted)).toBe(counted + 20);
});

test("SIGTERM lets the calls of all workers finish", async () => {
  const pids = await eventually(answeringProcesses, ({ length }) => length === 2);
  const held = await holdPredictions(24);
  server.kill("SIGTERM");
  await expectEventually(
    async () => (await logLines(server)).some(({ msg }) => msg === "stopping the workers"),
    true,
  );
  held.release();
  expect(await Promise.all(held.responses)).toEqual(Array(24).fill(200));
  expect(await server.exited).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
}, 300_000);

test("of two servers started at once on one port one runs, later ones do not start, and a killed supervisor leaves no worker", async () => {
  const port = String(await freePort());
  const environment = {
    PRESAGE_DATABASE_URL: databaseUrl,
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_PORT: port,
  };
  const both = await Promise.all([1, 2].map(() => launchPresage({ ...environment, PRESAGE_WORKERS: "2" })));
  try {
    const loser = await Promise.race(both.map(async (presage) => ({ presage, code: await presage.exited })));
    expect(loser.code).toBe(1);
    const inUse = `127.0.0.1:${port} is in use; set PRESAGE_PORT or PRESAGE_HOST to a free address.\n`;
    expect(await loser.presage.stderr()).toBe(inUse);

    url = `http://127.0.0.1:${port}`;
    await eventually(async () => (await call("GET", "/ready").catch(() => undefined))?.ok, Boolean, 30_000);
    // A server that listened at all addresses would get some of the requests too.
    const late = [environment, { ...environment, PRESAGE_WORKERS: "2", PRESAGE_HOST: "0.0.0.0" }];
    for (const [index, presage] of (
      await Promise.all(late.map((environment) => launchPresage(environment)))
    ).entries()) {
      expect(await presage.exited).toBe(1);
      expect(await presage.stderr()).toBe(index === 0 ? inUse : inUse.replace("127.0.0.1", "0.0.0.0"));
      await presage[Symbol.asyncDispose]();
    }

    const winner = both.find((presage) => presage !== loser.presage);
    const pids = await eventually(answeringProcesses, ({ length }) => length === 2);
    expect(pids).toHaveLength(2);
    winner?.kill("SIGKILL");
    await expectEventually(() => pids.filter(isAlive).length, 0);
  } finally {
    for (const presage of both) await presage[Symbol.asyncDispose]();
  }
}, 300_000);
