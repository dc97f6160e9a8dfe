import { expect, test } from "bun:test";
import { connect } from "node:net";
import { episodeClient } from "../support/environments/episode-client.ts";
import { expectEventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import {
  chatRequest,
  prediction,
  presageOver,
  presageWithRawUpstream,
} from "../support/presage/presage-with-raw-upstream.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { upstreamClients } from "../support/upstream/as-replicas.ts";
import { goodResponse, httpResponse } from "../support/upstream/raw-upstream.ts";

const inFlight = "presage_predictions_in_flight";

/** The maximum time from a disconnect until the upstream sees its request end. */
const abortWithinMs = 100;

for (const [path, body] of [
  ["/v1/predict", prediction],
  ["/v1/chat/completions", chatRequest],
] as const) {
  test.each(upstreamClients)(
    `over %s, on ${path} the upstream request is aborted within ${abortWithinMs} ms of the disconnect`,
    async (client) => {
      let asked = Promise.withResolvers<void>();
      let closed = Promise.withResolvers<number>();
      await using server = await presageOver(client)(({ socket }) => {
        socket.on("close", () => closed.resolve(performance.now()));
        asked.resolve();
      });
      const { hostname, port } = new URL(server.presage.url);
      const tookMs: number[] = [];
      for (let round = 0; round < 7; round++) {
        asked = Promise.withResolvers();
        closed = Promise.withResolvers();
        const caller = connect(Number(port), hostname);
        const text = JSON.stringify(body);
        caller.write(
          `POST ${path} HTTP/1.1\r\nhost: presage\r\nx-api-key: ${testKey}\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
        );
        await asked.promise;
        expect(await readMetric(server.presage, inFlight)).toBe(1);
        const hungUpAtMs = performance.now();
        caller.destroy();
        tookMs.push((await closed.promise) - hungUpAtMs);
      }
      // The quickest: a busy machine is late sometimes, a server that waits is late each time.
      expect(Math.min(...tookMs)).toBeLessThan(abortWithinMs);
      expect(server.upstream.received).toHaveLength(7);
      await expectEventually(() => readMetric(server.presage, inFlight), 0);
    },
  );
}

test("a client that disconnects during a step of an episode gives it up, and the episode stands where it was", async () => {
  const asked = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  await using server = await presageWithRawUpstream(({ socket, number }) => {
    if (number > 1) socket.write(goodResponse);
    else socket.on("close", () => closed.resolve());
    asked.resolve();
  });
  const { step, start, read } = episodeClient(server.presage);
  const id = await start("sandbox", { index: 0 });
  const caller = new AbortController();
  const left = fetch(`${server.presage.url}/v1/episodes/${id}/step`, {
    method: "POST",
    headers: { "x-api-key": testKey },
    body: JSON.stringify({ action: "open door" }),
    signal: caller.signal,
  }).catch(() => "gone");
  await asked.promise;
  caller.abort();
  expect(await left).toBe("gone");
  await closed.promise;
  expect(await read(id)).toMatchObject({ status: "open", steps: [], failed_steps: 0 });
  expect(await step(id, "open door")).toMatchObject({ info: { step: 1 } });
  await expectEventually(() => readMetric(server.presage, inFlight), 0);
});

test.each(upstreamClients)(
  "over %s, a hundred clients that disconnect at once leave nothing behind",
  async (client) => {
    const open = new Set<object>();
    await using server = await presageOver(client)(({ socket }) => {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
    });
    const hangUp = new AbortController();
    const calls = Array.from({ length: 100 }, (_, index) =>
      (index % 2 === 0 ? server.predict : server.chat)(hangUp.signal).catch(() => "gone"),
    );
    await expectEventually(() => open.size, 100);
    expect(await readMetric(server.presage, inFlight)).toBe(100);
    hangUp.abort();
    expect(await Promise.all(calls)).toStrictEqual(Array(100).fill("gone"));
    await expectEventually(() => open.size, 0);
    await expectEventually(() => readMetric(server.presage, inFlight), 0);
  },
);

test("a client that disconnects between two tries ends the retries", async () => {
  await using server = await presageWithRawUpstream(
    ({ socket, number }) =>
      socket.write(number < 3 ? httpResponse(503, { error: "busy" }, { "retry-after": "1" }) : goodResponse),
    { PRESAGE_UPSTREAM_RETRIES: "20" },
  );
  const hangUp = new AbortController();
  const call = server.predict(hangUp.signal).catch(() => "gone");
  await expectEventually(() => server.upstream.received.length, 1);
  hangUp.abort();
  expect(await call).toBe("gone");
  await expectEventually(() => readMetric(server.presage, inFlight), 0);
  // Another client waits as long for its second try, the third request: a second try of the first client would have come before.
  expect((await server.chat()).status).toBe(200);
  const asked = server.upstream.received.map(({ body }) => body.includes("Is the door open?"));
  expect(asked).toEqual([false, true, true]);
});

test("a client that disconnects during the look-up of the model's name does not cancel it for others", async () => {
  const { promise: mayAnswer, resolve: letAnswer } = Promise.withResolvers<void>();
  await using server = await presageWithRawUpstream(
    async ({ socket, head }) => {
      if (!head.startsWith("GET ")) return socket.write(goodResponse);
      await mayAnswer;
      socket.write(httpResponse(200, { data: [{ id: "served" }] }));
    },
    { PRESAGE_UPSTREAM_MODEL: undefined },
  );
  const hangUp = new AbortController();
  const first = server.predict(hangUp.signal).catch(() => "gone");
  await expectEventually(() => server.upstream.received.length, 1);
  const second = server.predict();
  await expectEventually(() => readMetric(server.presage, inFlight), 2);
  hangUp.abort();
  expect(await first).toBe("gone");
  await expectEventually(() => readMetric(server.presage, inFlight), 1);
  letAnswer();
  expect((await second).status).toBe(200);
  expect(server.upstream.received).toHaveLength(2);
});

for (const framing of ["content-length: 1000", "transfer-encoding: chunked"]) {
  test(`a client that disconnects in the middle of its body (${framing}) leaves nothing behind and is not an unexpected error`, async () => {
    await using server = await presageWithRawUpstream(({ socket }) => socket.write(goodResponse));
    const { hostname, port } = new URL(server.presage.url);
    const caller = connect(Number(port), hostname);
    caller.write(
      `POST /v1/predict HTTP/1.1\r\nhost: presage\r\nx-api-key: ${testKey}\r\n${framing}\r\n\r\n8\r\n{"intera`,
    );
    const readInFlight = () => readMetric(server.presage, inFlight);
    await expectEventually(readInFlight, 1);
    caller.destroy();
    await expectEventually(readInFlight, 0);
    const metrics = await (await server.presage.call("GET", "/metrics")).text();
    expect(metrics).toContain('presage_http_requests_total{route="/v1/predict",status="499"} 1');
    expect(server.upstream.received).toHaveLength(0);
  });
}
