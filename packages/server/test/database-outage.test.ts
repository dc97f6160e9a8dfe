import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually } from "./support/eventually.ts";
import { type PostgresServer, startPostgres } from "./support/postgres.ts";
import { startPresage, type TestPresage } from "./support/presage.ts";
import { prediction } from "./support/presage-before.ts";
import { startRelay } from "./support/relay.ts";
import { startUpstream, type TestUpstream } from "./support/upstream.ts";

const outageMs = 10_000;

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

interface Keys {
  /** Made a prediction just now. */
  usedLately: string;
  neverUsed: string;
  unknown: string;
}

async function makeKeys(presage: TestPresage): Promise<Keys> {
  const make = async (name: string): Promise<string> => {
    const response = await presage.call("POST", "/v1/api-keys", { name });
    expect(response.status).toBe(201);
    return (await response.json()).key;
  };
  const [usedLately, neverUsed] = [await make("used lately"), await make("never used")];
  expect((await predict(presage, usedLately)).status).toBe(200);
  return { usedLately, neverUsed, unknown: "psg_nobody-has-this-key-0123456789" };
}

function predict(presage: TestPresage, key: string): Promise<Response> {
  return presage.call("POST", "/v1/predict", prediction, { "x-api-key": key });
}

async function expectUnavailable(response: Response): Promise<void> {
  expect(response.status).toBe(503);
  expect(await response.json()).toStrictEqual({ detail: expect.any(String), category: "unavailable" });
}

async function expectOutage(presage: TestPresage, { usedLately, neverUsed, unknown }: Keys): Promise<void> {
  const listing = presage.call("GET", "/v1/api-keys", undefined, { "x-api-key": usedLately });
  const me = presage.call("GET", "/v1/me", undefined, { "x-api-key": usedLately });
  expect((await predict(presage, usedLately)).status).toBe(200);
  await expectUnavailable(await predict(presage, neverUsed));
  await expectUnavailable(await predict(presage, unknown));
  await expectUnavailable(await listing);
  await expectUnavailable(await me);
  expect((await predict(presage, usedLately)).status).toBe(200);
}

async function expectRecovery(presage: TestPresage, { usedLately, neverUsed, unknown }: Keys): Promise<void> {
  const statusOf = async (call: Promise<Response>) => (await call).status;
  const isOver = (status: number) => status !== 503;
  expect(await eventually(() => statusOf(predict(presage, unknown)), isOver, 30_000)).toBe(401);
  expect(await statusOf(predict(presage, neverUsed))).toBe(200);
  expect(await statusOf(predict(presage, usedLately))).toBe(200);
  expect(await statusOf(presage.call("GET", "/v1/api-keys"))).toBe(200);
  expect(await statusOf(presage.call("POST", "/v1/api-keys", { name: "made afterwards" }))).toBe(201);
}

test("with PostgreSQL gone, keys used lately go on, others are 503 and never 401; then it recovers by itself", async () => {
  const presage = await startPresage({
    PRESAGE_DATABASE_URL: await postgres.createDatabase(),
    PRESAGE_UPSTREAM_URL: upstream.url,
  });
  const keys = await makeKeys(presage);
  await postgres.stop();
  const goneAtMs = performance.now();
  while (performance.now() - goneAtMs < outageMs) {
    await expectOutage(presage, keys);
    await Bun.sleep(500);
  }
  await postgres.start();
  await expectRecovery(presage, keys);
  await presage.stop();
}, 120_000);

test("with PostgreSQL silent, keys used lately go on, others are 503 and never 401; then it recovers by itself", async () => {
  const direct = new URL(await postgres.createDatabase());
  const relay = await startRelay(Number(direct.port));
  direct.port = String(relay.port);
  const presage = await startPresage({
    PRESAGE_DATABASE_URL: direct.href,
    PRESAGE_UPSTREAM_URL: upstream.url,
  });
  const keys = await makeKeys(presage);
  relay.silence();
  const silentAtMs = performance.now();
  while (performance.now() - silentAtMs < outageMs) {
    const t = performance.now();
    await expectOutage(presage, keys);
    console.log(performance.now() - t);
  }
  relay.resume();
  await expectRecovery(presage, keys);
  await presage.stop();
  await relay.stop();
}, 120_000);
