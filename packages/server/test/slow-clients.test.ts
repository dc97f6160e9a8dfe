import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { eventually } from "./support/eventually.ts";
import { readMetric } from "./support/metric.ts";
import { testKey } from "./support/presage.ts";
import { prediction } from "./support/presage-before.ts";
import { goodAnswer, httpAnswer, startRawUpstream } from "./support/raw-upstream.ts";
import { type SpawnedPresage, spawnPresage } from "./support/spawn-presage.ts";

const ofEachKind = 500;
/** Longer than the server lets a connection be idle. */
const longAnswerMs = 37_000;

const models = httpAnswer(200, { object: "list", data: [{ id: "test-model", object: "model" }] });
const unfinishedHead = "POST /v1/predict HTTP/1.1\r\nhost: presage\r\nx-slow: ";
const unfinishedBody = `POST /v1/predict HTTP/1.1\r\nhost: presage\r\nx-api-key: ${testKey}\r\ncontent-length: 100000\r\n\r\n{"`;

/** Connections that begin with `start` and then send one byte a second. */
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
    // As people come: not all in the same instant, which the kernel's queue of new connections would not take.
    if (index % 50 === 49) await Bun.sleep(20);
  }
  return open;
}

test("clients that send a byte a second are closed in time and do not keep others from being served", async () => {
  const upstream = await startRawUpstream(({ socket, head, body }) => {
    const asksForModels = head.startsWith("GET ");
    const isLong = asksForModels || body.includes("long");
    setTimeout(() => socket.write(asksForModels ? models : goodAnswer), isLong ? longAnswerMs : 0);
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
  expect(await eventually(readInFlight, (count) => count === ofEachKind + 1)).toBe(ofEachKind + 1);
  expect(inHead.size).toBe(ofEachKind);

  const statuses: number[] = [];
  const isAnyOpen = () => inHead.size + inBody.size > 0;
  const deadlineMs = performance.now() + 60_000;
  while (isAnyOpen() && performance.now() < deadlineMs) {
    const calls = Array.from({ length: 10 }, () => presage.call("POST", "/v1/predict", prediction));
    for (const response of await Promise.all(calls)) statuses.push(response.status);
    await Bun.sleep(200);
  }
  expect(inHead.size).toBe(0);
  expect(inBody.size).toBe(0);
  expect(statuses.filter((status) => status !== 200)).toStrictEqual([]);
  expect(statuses.length).toBeGreaterThan(100);
  // Whoever waits for the upstream is idle too, and is not closed for it.
  for (const call of longCalls) expect((await call).status).toBe(200);
  expect(await eventually(readInFlight, (count) => count === 0)).toBe(0);
  await upstream.stop();
}, 100_000);
