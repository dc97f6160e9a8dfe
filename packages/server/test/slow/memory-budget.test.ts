import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { eventually, expectEventually } from "../support/eventually.ts";
import { bodiesWithLongResponses } from "../support/hostile/hostile-bodies.ts";
import { peakMemory } from "../support/presage/peak-memory.ts";
import { testKey } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { onEachDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { storeResults } from "../support/store/store-results.ts";
import { upstreamHost } from "../support/upstream/as-replicas.ts";
import { completion } from "../support/upstream/upstream.ts";

const megabyte = 1_000_000;
const budget = 256 * 1024 * 1024;
/** The memory of an idle server, and what one large body or page may briefly take beyond its estimate. */
const besideBudget = 450 * megabyte;

/** An upstream that responds when told to, and discards what it receives. */
function startSlowUpstream() {
  let go = Promise.withResolvers<void>();
  let waiting = 0;
  let content = "The door is open.";
  const server = Bun.serve({
    hostname: upstreamHost,
    port: 0,
    idleTimeout: 255,
    async fetch({ body }) {
      if (body !== null) for await (const _ of body);
      waiting += 1;
      await go.promise;
      waiting -= 1;
      return Response.json(completion(content));
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    waiting: () => waiting,
    answerAll() {
      go.resolve();
      go = Promise.withResolvers();
    },
    answerAtOnce(longer: string) {
      content = longer;
      go.resolve();
    },
    stop: () => server.stop(true),
  };
}

async function start(environment: Record<string, string>): Promise<SpawnedPresage> {
  return await spawnPresage({
    PRESAGE_DATABASE_URL: "sqlite::memory:",
    PRESAGE_LOG_LEVEL: "warn",
    PRESAGE_UPSTREAM_MODEL: "test-model",
    PRESAGE_MEMORY_BUDGET_BYTES: String(budget),
    // `settle-runtime.ts` sets this outside of tests.
    BUN_JSC_forceRAMSize: "301989888",
    ...environment,
  });
}

const reservedBytes = (presage: SpawnedPresage) => readMetric(presage, "presage_memory_held_bytes");

/** The number of requests whose response is ready, whatever its status. */
async function countAnswered(presage: SpawnedPresage, route: string): Promise<number> {
  const metrics = await (await presage.call("GET", "/metrics")).text();
  const counts = metrics.matchAll(/^presage_http_requests_total\{route="([^"]+)",status="\d+"\} (\d+)$/gm);
  return [...counts].reduce((sum, [_, counted, count]) => (counted === route ? sum + Number(count) : sum), 0);
}

async function expectNothingHeld(presage: SpawnedPresage): Promise<void> {
  expect(
    await eventually(
      () => reservedBytes(presage),
      (held) => held === 0,
      40_000,
    ),
  ).toBe(0);
}

function longPrediction(bytes: number): string {
  return JSON.stringify({ interaction: { state: "x".repeat(bytes), action: "look" } });
}

/** Counts the responses by status; each 503 must have Retry-After. */
async function countStatuses(responses: Promise<Response>[]): Promise<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const response of await Promise.all(responses)) {
    counts[response.status] = (counts[response.status] ?? 0) + 1;
    if (response.status === 503) {
      expect(response.headers.get("retry-after")).toBe("1");
      expect(await response.json()).toMatchObject({ category: "unavailable" });
    }
  }
  return counts;
}

/** Sends a request on a new connection, and does not read the response until told to. */
function askAndRead(presage: SpawnedPresage, method: string, path: string, body: string) {
  const { hostname, port } = new URL(presage.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.pause();
  const head = `${method} ${path} HTTP/1.1\r\nhost: a\r\nx-api-key: ${testKey}\r\nconnection: close`;
  socket.write(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  return socket;
}

describe.if(process.platform === "linux")("With a budget of 256 MB", () => {
  const upstream = startSlowUpstream();
  afterAll(() => upstream.stop());

  test("24 predictions of 16 MB stay near it, the rest get 503, and all works afterwards", async () => {
    await using presage = await start({ PRESAGE_UPSTREAM_URL: upstream.url });
    const body = longPrediction(16 * megabyte);
    let answered = 0;
    const calls = Array.from({ length: 24 }, () =>
      presage.call("POST", "/v1/predict", body).finally(() => {
        answered += 1;
      }),
    );
    const all = () => answered + upstream.waiting();
    expect(
      await eventually(
        async () => all(),
        (count) => count === 24,
        30_000,
      ),
    ).toBe(24);
    // A small request is admitted in addition to the maximum of large ones.
    const small = presage.call("POST", "/v1/predict", prediction);
    const before = upstream.waiting();
    expect(
      await eventually(
        async () => upstream.waiting(),
        (count) => count > before,
      ),
    ).toBeGreaterThan(before);
    expect(await reservedBytes(presage)).toBeLessThan(budget);
    upstream.answerAll();
    expect((await small).status).toBe(200);
    const { 200: good = 0, 503: refused = 0 } = await countStatuses(calls);
    expect([good > 0, refused > 0, good + refused]).toEqual([true, true, 24]);
    expect(await peakMemory(presage)).toBeLessThan(budget + besideBudget);
    await expectNothingHeld(presage);
    const later = presage.call("POST", "/v1/predict", body);
    expect(
      await eventually(
        async () => upstream.waiting(),
        (count) => count === 1,
        10_000,
      ),
    ).toBe(1);
    upstream.answerAll();
    expect((await later).status).toBe(200);
  }, 300_000);

  test("chunked bodies count as they arrive, and their memory is released if they break off", async () => {
    await using presage = await start({ PRESAGE_UPSTREAM_URL: upstream.url });
    const { hostname, port } = new URL(presage.url);
    const part = "x".repeat(1024 * 1024);
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      socket.resume();
      socket.write(
        `POST /v1/predict HTTP/1.1\r\nhost: a\r\nx-api-key: ${testKey}\r\ntransfer-encoding: chunked\r\n\r\n`,
      );
      for (let sent = 0; sent < 8; sent += 1) socket.write(`${part.length.toString(16)}\r\n${part}\r\n`);
      return socket;
    });
    expect(
      await eventually(
        () => reservedBytes(presage),
        (held) => held > budget / 2,
      ),
    ).toBeLessThan(budget);
    expect((await presage.call("POST", "/v1/predict", longPrediction(8 * megabyte))).status).toBe(503);
    for (const socket of sockets) socket.destroy();
    await expectNothingHeld(presage);
    expect(await peakMemory(presage)).toBeLessThan(budget + besideBudget);
  }, 300_000);

  test("a request that could never fit is 413, without Retry-After", async () => {
    await using presage = await start({
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_MEMORY_BUDGET_BYTES: String(64 * 1024 * 1024),
    });
    const response = await presage.call("POST", "/v1/predict", longPrediction(16 * megabyte));
    expect(response.status).toBe(413);
    expect(await response.json()).toStrictEqual({
      detail: expect.stringMatching(/97 MB .* 59 MB .*PRESAGE_MEMORY_BUDGET_BYTES/),
    });
    await expectNothingHeld(presage);
  });

  test("long upstream responses count while they are read and while their clients read them", async () => {
    const chatty = startSlowUpstream();
    chatty.answerAtOnce("x".repeat(20 * megabyte));
    await using presage = await start({ PRESAGE_UPSTREAM_URL: chatty.url });
    const body = JSON.stringify({ messages: [{ role: "user", content: "Tell me everything." }] });
    const sockets = Array.from({ length: 16 }, () =>
      askAndRead(presage, "POST", "/v1/chat/completions", body),
    );
    expect(
      await eventually(
        () => reservedBytes(presage),
        (held) => held > 40 * megabyte,
      ),
    ).toBeGreaterThan(40 * megabyte);
    await expectEventually(() => countAnswered(presage, "/v1/chat/completions"), sockets.length);
    expect(await reservedBytes(presage)).toBeGreaterThan(40 * megabyte);
    expect(await peakMemory(presage)).toBeLessThan(budget + besideBudget);
    for (const socket of sockets) socket.destroy();
    await expectNothingHeld(presage);
    await chatty.stop();
  }, 300_000);

  test("long responses of short evaluations count while their clients do not read them", async () => {
    await using presage = await start({});
    const [escaped] = bodiesWithLongResponses().filter(({ name }) => name.includes("escaped"));
    const body = Buffer.from(escaped?.body() ?? []).toString();
    const sockets = Array.from({ length: 8 }, () => askAndRead(presage, "POST", "/v1/evaluate", body));
    const isHeld = (held: number) => held > 10 * megabyte;
    expect(await eventually(() => reservedBytes(presage), isHeld)).toSatisfy(isHeld);
    await expectEventually(() => countAnswered(presage, "/v1/evaluate"), sockets.length);
    expect(await reservedBytes(presage)).toSatisfy(isHeld);
    expect(await peakMemory(presage)).toBeLessThan(budget + besideBudget);
    for (const socket of sockets) socket.destroy();
    await expectNothingHeld(presage);
  }, 300_000);
});

onEachDatabase((database) => {
  let databaseUrl: string;
  beforeAll(async () => {
    databaseUrl = await database.create();
    await using store = await openStore(databaseUrl);
    for (let stored = 0; stored < 62; stored += 1) {
      const output = String(stored).padEnd(megabyte, "x");
      await storeResults(store.database, store.owner.account_id, [{ sample: { output } }]);
    }
  }, 300_000);

  describe.if(process.platform === "linux")("With a budget of 256 MB", () => {
    // Many results of medium length on one, a few of full length on the other: together they cover what 10 of 62 MB would.
    const { searches, limit } =
      database.name === "SQLite" ? { searches: 10, limit: 24 } : { searches: 4, limit: 62 };

    test(`${searches} searches of ${limit} MB stay near it, and each is complete`, async () => {
      await using presage = await start({ PRESAGE_DATABASE_URL: databaseUrl });
      const lengths = await Promise.all(
        Array.from({ length: searches }, async () => {
          const response = await presage.call("POST", "/v1/evaluation-results/search", { limit });
          expect(response.status).toBe(200);
          let length = 0;
          for await (const chunk of response.body ?? []) length += chunk.length;
          return length;
        }),
      );
      expect(new Set(lengths).size).toBe(1);
      expect(lengths[0]).toBeGreaterThan(2 * limit * megabyte);
      expect(await peakMemory(presage)).toBeLessThan(budget + besideBudget);
      await expectNothingHeld(presage);
    }, 300_000);

    // The response is the same on both.
    if (database.name === "PostgreSQL") return;

    test("clients that do not read their pages hold memory only while connected", async () => {
      await using presage = await start({ PRESAGE_DATABASE_URL: databaseUrl });
      const body = JSON.stringify({ limit: 62 });
      const sockets = Array.from({ length: 60 }, () =>
        askAndRead(presage, "POST", "/v1/evaluation-results/search", body),
      );
      const search = async (body: object) => {
        const response = await presage.call("POST", "/v1/evaluation-results/search", body);
        await response.arrayBuffer();
        return response.status;
      };
      const isFull = (held: number) => held > budget * 0.85;
      expect(await eventually(() => reservedBytes(presage), isFull, 20_000)).toSatisfy(isFull);
      expect(await search({ limit: 62 })).toBe(503);
      expect(await search({ limit: 1, text_limit: 9 })).toBe(200);
      expect(await peakMemory(presage)).toBeLessThan(budget + besideBudget);
      for (const socket of sockets) socket.destroy();
      await expectNothingHeld(presage);
      expect(await search({ limit: 1 })).toBe(200);
    }, 300_000);
  });
});
