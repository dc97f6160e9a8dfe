import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testKey } from "../support/presage/presage.ts";
import { prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { openRawClient } from "../support/presage/raw-client.ts";
import { type SpawnedPresage, spawnPresage } from "../support/presage/spawn-presage.ts";
import { upstreamClients } from "../support/upstream/as-replicas.ts";
import { goodResponse, startRawUpstream } from "../support/upstream/raw-upstream.ts";
import { selfSignedCertificate } from "../support/upstream/self-signed-certificate.ts";
import { completion } from "../support/upstream/upstream.ts";

/** More than the connections that Bun keeps for one TLS configuration. */
const inFlight = 160;
const certificate = selfSignedCertificate();
/** The client's port of each connection. */
const connections = new Set<number>();
let held: (() => void)[] = [];
let directory: string;
let presage: SpawnedPresage;

// Answers all calls of a step at once, as when the rollouts of a training run step together.
const upstream = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  tls: certificate,
  idleTimeout: 255,
  async fetch(request, server) {
    connections.add(server.requestIP(request)?.port ?? 0);
    await request.text();
    await new Promise<void>((resolve) => {
      held.push(resolve);
      if (held.length < inFlight) return;
      for (const release of held) release();
      held = [];
    });
    return Response.json(completion("Open."));
  },
});

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "presage-connections-"));
  const ca = join(directory, "ca.pem");
  await Bun.write(ca, certificate.cert);
  presage = await spawnPresage({
    NODE_EXTRA_CA_CERTS: ca,
    PRESAGE_DATABASE_URL: "sqlite::memory:",
    PRESAGE_UPSTREAM_URL: `https://localhost:${upstream.port}/v1`,
    PRESAGE_UPSTREAM_MODEL: "m",
  });
}, 300_000);
afterAll(async () => {
  await presage?.[Symbol.asyncDispose]();
  await upstream.stop(true);
  await rm(directory, { recursive: true, force: true });
});

test("connections to an https upstream are kept, as many as there are calls in flight", async () => {
  const interaction = { state: "s", action: "a" };
  for (let step = 0; step < 3; step++) {
    const calls = Array.from({ length: inFlight }, async () => {
      return (await presage.call("POST", "/v1/predict", { interaction })).status;
    });
    expect(await Promise.all(calls)).toEqual(Array(inFlight).fill(200));
  }
  expect(connections.size).toBe(inFlight);
}, 300_000);

test.each(upstreamClients)(
  "over %s, a request and a response to the client are one write each, head and body",
  async (client) => {
    const calls = 50;
    let requestReads = 0;
    const plain = await startRawUpstream(({ socket, numberOnConnection }) => {
      if (numberOnConnection === 1) socket.on("data", () => (requestReads += 1));
      socket.write(goodResponse);
    });
    await using server = await spawnPresage({
      PRESAGE_DATABASE_URL: "sqlite::memory:",
      PRESAGE_UPSTREAM_CLIENT: client,
      PRESAGE_UPSTREAM_URL: plain.url,
      PRESAGE_UPSTREAM_MODEL: "m",
    });
    const caller = await openRawClient(server.url);
    let responseReads = 0;
    caller.socket.on("data", () => (responseReads += 1));
    const body = JSON.stringify(prediction);
    for (let call = 0; call < calls; call++) {
      expect((await caller.send("POST", "/v1/predict", { "x-api-key": testKey }, body)).status).toBe(200);
    }
    const connections = plain.received.filter(({ numberOnConnection }) => numberOnConnection === 1).length;
    // A connection's reads are counted from its second request on.
    expect([responseReads, requestReads]).toEqual([calls, calls - connections]);
    caller.socket.destroy();
    await plain.stop();
  },
  120_000,
);
