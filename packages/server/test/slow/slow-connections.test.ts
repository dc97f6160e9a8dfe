import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { expectEventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { openRawClient } from "../support/presage/raw-client.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { createPostgresDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { connectTo, countLockWaits } from "../support/store/postgres.ts";
import { storeResults } from "../support/store/store-results.ts";
import { goodResponse, httpResponse, startRawUpstream } from "../support/upstream/raw-upstream.ts";

const ofEachKind = 100;
/** Longer than the server's idle timeout. */
const longAnswerMs = 37_000;

const models = httpResponse(200, { object: "list", data: [{ id: "test-model", object: "model" }] });
const unfinishedHead = "POST /v1/predict HTTP/1.1\r\nhost: presage\r\nx-slow: ";
const unfinishedBody = `POST /v1/predict HTTP/1.1\r\nhost: presage\r\nx-api-key: ${testKey}\r\ncontent-length: 100000\r\n\r\n{"`;

/** Connections that begin with `start` and then send one byte per second. */
async function openSlowClients(presage: SpawnedPresage, start: string): Promise<Set<Socket>> {
  const { hostname, port } = new URL(presage.url);
  const open = new Set<Socket>();
  for (let index = 0; index < ofEachKind; index++) {
    const socket = connect(Number(port), hostname, () => socket.write(start));
    open.add(socket);
    const dripping = setInterval(() => socket.write("a"), 1_000);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(dripping);
      open.delete(socket);
    });
    // Not all at once, which would overflow the kernel's queue of new connections.
    if (index % 50 === 49) await Bun.sleep(20);
  }
  return open;
}

// These wait for timeouts of 30 s, so they run concurrently.
test.concurrent("clients that send one byte per second are disconnected in time and do not block others", async () => {
  const upstream = await startRawUpstream(({ socket, head, body }) => {
    const asksForModels = head.startsWith("GET ");
    const isLong = asksForModels || body.includes("long");
    setTimeout(() => socket.write(asksForModels ? models : goodResponse), isLong ? longAnswerMs : 0);
  });
  await using presage = await spawnPresage({
    PRESAGE_DATABASE_URL: "sqlite::memory:",
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "test-model",
  });
  const longCalls = [
    presage.call("POST", "/v1/predict", { interaction: { state: "A long night.", action: "sleep" } }),
    presage.call("GET", "/v1/models"),
  ];
  const inHead = await openSlowClients(presage, unfinishedHead);
  const inBody = await openSlowClients(presage, unfinishedBody);
  const readInFlight = () => readMetric(presage, "presage_predictions_in_flight");
  await expectEventually(readInFlight, ofEachKind + 1);
  expect(inHead.size).toBe(ofEachKind);

  const statuses: number[] = [];
  const predictAndCountOpen = async () => {
    // Other clients are served in these 30 s; checking more often would prove no more.
    await Bun.sleep(200);
    statuses.push((await presage.call("POST", "/v1/predict", prediction)).status);
    return inHead.size + inBody.size;
  };
  await expectEventually(predictAndCountOpen, 0, 60_000);
  expect(inHead.size).toBe(0);
  expect(inBody.size).toBe(0);
  expect(statuses.filter((status) => status !== 200)).toStrictEqual([]);
  expect(statuses.length).toBeGreaterThan(20);
  // Connections that wait for the upstream are idle too, and are not closed.
  for (const call of longCalls) expect((await call).status).toBe(200);
  await expectEventually(readInFlight, 0);
  await upstream.stop();
}, 300_000);

/** Uploads a body in one piece per second. */
async function uploadSlowly(presage: SpawnedPresage, bytesPerSecond: number, seconds: number) {
  const client = await openRawClient(presage.url);
  const length = bytesPerSecond * seconds;
  const head = `POST /v1/predict HTTP/1.1\r\nhost: presage\r\nx-api-key: ${testKey}\r\n`;
  client.socket.write(`${head}content-length: ${length}\r\n\r\n`);
  const answer = client.answer().then(
    ({ status }) => status,
    () => "closed",
  );
  for (let second = 0; second < seconds && !client.isClosed(); second++) {
    client.socket.write(Buffer.alloc(bytesPerSecond, " "));
    // The pace is part of the test.
    await Bun.sleep(1_000);
  }
  return await answer;
}

test.concurrent("an upload is closed if it is slower than 16 KB per second, and only then", async () => {
  await using presage = await spawnPresage({ PRESAGE_DATABASE_URL: "sqlite::memory:" });
  const uploads = await Promise.all([
    uploadSlowly(presage, 24 * 1024, 40),
    // At any pace, the connection ends within 30 s.
    uploadSlowly(presage, 1024, 20),
    uploadSlowly(presage, 8 * 1024, 60),
  ]);
  // Whitespace is not a body.
  expect(uploads).toEqual([422, 422, "closed"]);
}, 300_000);

test.concurrent("predictions cut off by a stop after 30 s are logged", async () => {
  const upstream = await startRawUpstream(() => {});
  await using presage = await spawnPresage({
    PRESAGE_DATABASE_URL: "sqlite::memory:",
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_MODEL: "test-model",
  });
  const requestIds = ["cut-1", "cut-2", "cut-3"];
  const calls = requestIds.map((id) =>
    presage
      .call("POST", "/v1/predict", prediction, { "x-api-key": testKey, "x-request-id": id })
      .then(({ status }) => status)
      .catch(() => "closed"),
  );
  await expectEventually(() => upstream.received.length, 3);
  presage.kill("SIGTERM");
  expect(await Promise.all(calls)).toEqual(["closed", "closed", "closed"]);
  expect(await presage.exited).toBe(0);
  const lines = (await presage.stdout()).split("\n").filter((line) => line !== "");
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(records.filter(({ cutOff }) => cutOff === 3)).toHaveLength(1);
  const requests = records.filter(({ route }) => route === "/v1/predict");
  expect(requests.map(({ requestId }) => requestId).sort()).toEqual(requestIds);
  await upstream.stop();
}, 300_000);

/** Searches, and reads only the beginning of the response until told to continue. */
async function openSlowSearch(presage: SpawnedPresage) {
  const { hostname, port } = new URL(presage.url);
  const socket = connect(Number(port), hostname);
  const body = JSON.stringify({ limit: 40 });
  const head = `POST /v1/evaluation-results/search HTTP/1.1\r\nhost: a\r\nx-api-key: ${testKey}\r\nconnection: close`;
  socket.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  socket.on("error", () => {});
  let end = "";
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await new Promise<void>((resolve) =>
    socket.on("data", (chunk: Buffer) => {
      end = (end + chunk.toString("latin1")).slice(-10);
      socket.pause();
      resolve();
    }),
  );
  return {
    async readOn(): Promise<string> {
      socket.removeAllListeners("data");
      socket.on("data", (chunk: Buffer) => {
        end = (end + chunk.toString("latin1")).slice(-10);
      });
      socket.resume();
      await closed;
      return end;
    },
  };
}

test.concurrent("requests that wait for the database longer than the idle timeout get a response, and the rest of a list", async () => {
  const databaseUrl = await createPostgresDatabase();
  {
    await using store = await openStore(databaseUrl);
    const output = "x".repeat(900_000);
    const results = Array.from({ length: 10 }, () => ({ sample: { output } }));
    // In parts, because a transaction that is idle for a long time is rolled back.
    for (let part = 0; part < 4; part++) await storeResults(store.database, store.owner.account_id, results);
  }
  // A short timeout of the upstream does not change this.
  await using presage = await spawnPresage({
    PRESAGE_DATABASE_URL: databaseUrl,
    PRESAGE_UPSTREAM_TIMEOUT_MS: "1000",
  });
  const search = await openSlowSearch(presage);
  const [holder, watcher] = await Promise.all([connectTo(databaseUrl), connectTo(databaseUrl)]);
  await holder.query("begin; lock table usage_counts in access exclusive mode");
  const startedAtMs = performance.now();
  // Four at a time, they time out after 5 s.
  const calls = Array.from({ length: 36 }, () =>
    presage.call("GET", "/v1/usage").then(
      ({ status }) => status,
      () => "closed",
    ),
  );
  await expectEventually(() => countLockWaits(watcher), 4);
  // The rest of the list waits behind them.
  const end = search.readOn();
  expect(new Set(await Promise.all(calls))).toEqual(new Set([503]));
  expect(performance.now() - startedAtMs).toBeGreaterThan(38_000);
  expect(await end).toEndWith("]}\r\n0\r\n\r\n");
  await holder.query("rollback");
  await Promise.all([holder.end(), watcher.end()]);
}, 300_000);
