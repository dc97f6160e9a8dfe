import { expect, test } from "bun:test";
import { connect } from "node:net";
import { eventually } from "../support/eventually.ts";
import { testKey } from "../support/presage/presage.ts";
import {
  chatRequest,
  prediction,
  presageWithRawUpstream,
} from "../support/presage/presage-with-raw-upstream.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { goodResponse, httpResponse } from "../support/upstream/raw-upstream.ts";

const inFlight = "presage_predictions_in_flight";

/** The binding limit on the time from a hang-up until the upstream sees the end of its request. */
const abortWithinMs = 100;

for (const [path, body] of [
  ["/v1/predict", prediction],
  ["/v1/chat/completions", chatRequest],
] as const) {
  test(`on ${path} the upstream request is aborted within ${abortWithinMs} ms of the disconnect`, async () => {
    let asked = Promise.withResolvers<void>();
    let closed = Promise.withResolvers<number>();
    await using server = await presageWithRawUpstream(({ socket }) => {
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
    // The median: a busy machine may be late once, a server that waits for something is late each time.
    expect(tookMs.sort((a, b) => a - b)[3]).toBeLessThan(abortWithinMs);
    expect(server.upstream.received).toHaveLength(7);
    expect(
      await eventually(
        () => readMetric(server.presage, inFlight),
        (count) => count === 0,
      ),
    ).toBe(0);
  });
}

test("a hundred clients that disconnect at once leave nothing behind", async () => {
  const open = new Set<object>();
  await using server = await presageWithRawUpstream(({ socket }) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  const hangUp = new AbortController();
  const calls = Array.from({ length: 100 }, (_, index) =>
    (index % 2 === 0 ? server.predict : server.chat)(hangUp.signal).catch(() => "gone"),
  );
  expect(
    await eventually(
      () => open.size,
      (count) => count === 100,
    ),
  ).toBe(100);
  expect(await readMetric(server.presage, inFlight)).toBe(100);
  hangUp.abort();
  expect(await Promise.all(calls)).toStrictEqual(Array(100).fill("gone"));
  expect(
    await eventually(
      () => open.size,
      (count) => count === 0,
    ),
  ).toBe(0);
  expect(
    await eventually(
      () => readMetric(server.presage, inFlight),
      (count) => count === 0,
    ),
  ).toBe(0);
});

test("a client that disconnects between two tries ends the retries", async () => {
  await using server = await presageWithRawUpstream(
    ({ socket }) => socket.write(httpResponse(503, { error: "busy" }, { "retry-after": "1" })),
    { PRESAGE_UPSTREAM_RETRIES: "20" },
  );
  const hangUp = new AbortController();
  const call = server.predict(hangUp.signal).catch(() => "gone");
  expect(
    await eventually(
      () => server.upstream.received.length,
      (count) => count === 1,
    ),
  ).toBe(1);
  hangUp.abort();
  expect(await call).toBe("gone");
  expect(
    await eventually(
      () => readMetric(server.presage, inFlight),
      (count) => count === 0,
    ),
  ).toBe(0);
  await Bun.sleep(1_200);
  expect(server.upstream.received).toHaveLength(1);
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
  expect(
    await eventually(
      () => server.upstream.received.length,
      (count) => count === 1,
    ),
  ).toBe(1);
  const second = server.predict();
  expect(
    await eventually(
      () => readMetric(server.presage, inFlight),
      (count) => count === 2,
    ),
  ).toBe(2);
  hangUp.abort();
  expect(await first).toBe("gone");
  expect(
    await eventually(
      () => readMetric(server.presage, inFlight),
      (count) => count === 1,
    ),
  ).toBe(1);
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
    expect(await eventually(readInFlight, (count) => count === 1)).toBe(1);
    caller.destroy();
    expect(await eventually(readInFlight, (count) => count === 0)).toBe(0);
    const metrics = await (await server.presage.call("GET", "/metrics")).text();
    expect(metrics).toContain('presage_http_requests_total{route="/v1/predict",status="499"} 1');
    expect(server.upstream.received).toHaveLength(0);
  });
}
