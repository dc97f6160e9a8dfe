import { afterAll, beforeAll, expect, test } from "bun:test";
import { ApiKeyCreateResponse } from "@presage/contract";
import { eventually } from "../support/eventually.ts";
import { startPresage, type TestPresage } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { shiftedClock } from "../support/shifted-clock.ts";
import { type PostgresServer, startPostgres } from "../support/store/postgres.ts";
import { startRelay } from "../support/store/relay.ts";
import { startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";

/** A checked key is trusted for 4.5 s without asking the database again. */
const longerThanTrustedMs = 6_000;

let postgres: PostgresServer;
let upstream: TestUpstream;
beforeAll(async () => {
  postgres = await startPostgres();
  upstream = startUpstream();
}, 300_000);
afterAll(async () => {
  await upstream.stop();
  await postgres.remove();
}, 300_000);

interface Keys {
  /** A key that has just made a prediction. */
  usedLately: string;
  neverUsed: string;
  unknown: string;
}

async function makeKeys(presage: TestPresage): Promise<Keys> {
  const make = async (name: string): Promise<string> => {
    const response = await presage.call("POST", "/v1/api-keys", { name });
    expect(response.status).toBe(201);
    return ApiKeyCreateResponse.parse(await response.json()).key;
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
  // Nothing was changed: a retry is safe.
  expect(response.headers.get("retry-after")).toBe("2");
  expect(response.headers.get("x-should-retry")).toBeNull();
  expect(await response.json()).toStrictEqual({ detail: expect.any(String), category: "unavailable" });
}

/** Predicts in a loop with a client timeout of a few seconds, and returns how each call ended. */
function predictUntilStopped(presage: TestPresage, key: string): () => Promise<Set<number | string>> {
  const outcomes = new Set<number | string>();
  let isStopped = false;
  const loop = (async () => {
    while (!isStopped) {
      const answer = predict(presage, key).then(({ status }) => status);
      outcomes.add(await Promise.race([answer, Bun.sleep(4_000).then(() => "no answer within 4 s")]));
      await Bun.sleep(50);
    }
  })();
  return async () => {
    isStopped = true;
    await loop;
    return outcomes;
  };
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

test("with PostgreSQL down, recently used keys keep working, others are 503 and never 401; then it recovers by itself", async () => {
  const presage = await startPresage({
    PRESAGE_DATABASE_URL: await postgres.createDatabase(),
    PRESAGE_UPSTREAM_URL: upstream.url,
  });
  const keys = await makeKeys(presage);
  const stopPredicting = predictUntilStopped(presage, keys.usedLately);
  await postgres.stop();
  using clock = shiftedClock();
  for (let check = 0; check < 4; check++) {
    await expectOutage(presage, keys);
    clock.advance(longerThanTrustedMs);
  }
  await postgres.start();
  await expectRecovery(presage, keys);
  expect(await stopPredicting()).toStrictEqual(new Set([200]));
  await presage.stop();
}, 300_000);

test("with PostgreSQL silent, recently used keys keep working, others are 503 and never 401; then it recovers by itself", async () => {
  const direct = new URL(await postgres.createDatabase());
  const relay = await startRelay(Number(direct.port));
  direct.port = String(relay.port);
  const presage = await startPresage({
    PRESAGE_DATABASE_URL: direct.href,
    PRESAGE_UPSTREAM_URL: upstream.url,
  });
  const keys = await makeKeys(presage);
  const stopPredicting = predictUntilStopped(presage, keys.usedLately);
  relay.silence();
  using clock = shiftedClock();
  clock.advance(longerThanTrustedMs);
  await expectOutage(presage, keys);
  relay.resume();
  await expectRecovery(presage, keys);
  expect(await stopPredicting()).toStrictEqual(new Set([200]));
  await presage.stop();
  await relay.stop();
}, 300_000);
