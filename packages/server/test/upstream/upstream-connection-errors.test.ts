import { describe, expect, test } from "bun:test";
import { createDraw } from "../../../../fuzz/generate/draw.ts";
import { freePort } from "../support/free-port.ts";
import { errorBody } from "../support/presage/error-body.ts";
import { startPresage } from "../support/presage/presage.ts";
import { prediction, presageOver } from "../support/presage/presage-with-raw-upstream.ts";
import { seed, seeded } from "../support/seeded.ts";
import { upstreamClients } from "../support/upstream/as-replicas.ts";
import { type Behaviour, goodResponse, httpResponse } from "../support/upstream/raw-upstream.ts";
import { completion } from "../support/upstream/upstream.ts";

describe.each(upstreamClients)("over %s", (client) => {
  const presageWithRawUpstream = presageOver(client);

  const unavailable = { category: "unavailable", detail: expect.any(String) };

  test("an upstream that refuses the connection is 503 unavailable, without an upstream status", async () => {
    const presage = await startPresage({
      PRESAGE_UPSTREAM_CLIENT: client,
      PRESAGE_UPSTREAM_URL: `http://127.0.0.1:${await freePort()}/v1`,
      PRESAGE_UPSTREAM_MODEL: "test-model",
    });
    for (const [path, body] of [
      ["/v1/predict", prediction],
      ["/v1/chat/completions", { messages: [{ role: "user", content: "hello" }] }],
    ] as const) {
      const response = await presage.call("POST", path, body);
      expect(response.status).toBe(503);
      expect(await errorBody(response)).toStrictEqual(unavailable);
    }
    await presage.stop();
  });

  test("an upstream whose name does not resolve is 503 unavailable", async () => {
    const presage = await startPresage({
      PRESAGE_UPSTREAM_CLIENT: client,
      PRESAGE_UPSTREAM_URL: "http://no-such-host.invalid/v1",
      PRESAGE_UPSTREAM_MODEL: "test-model",
    });
    const response = await presage.call("POST", "/v1/predict", prediction);
    expect(response.status).toBe(503);
    expect(await errorBody(response)).toStrictEqual(unavailable);
    await presage.stop();
  }, 300_000);

  test("a connection reset before the response is retried", async () => {
    await using server = await presageWithRawUpstream(({ socket, number }) => {
      if (number === 1) socket.resetAndDestroy();
      else socket.write(goodResponse);
    });
    const response = await server.predict();
    expect(response.status).toBe(200);
    expect(server.upstream.received).toHaveLength(2);
    expect(server.upstream.received[1]?.body).toBe(server.upstream.received[0]?.body ?? "nothing was sent");
  });

  test("a connection reset each time is tried three times and is then 503 unavailable", async () => {
    await using server = await presageWithRawUpstream(({ socket }) => socket.resetAndDestroy());
    const response = await server.predict();
    expect(response.status).toBe(503);
    expect(await errorBody(response)).toStrictEqual(unavailable);
    expect(server.upstream.received).toHaveLength(3);
  });

  test("a connection closed cleanly before the response is retried too", async () => {
    await using server = await presageWithRawUpstream(({ socket, number }) => {
      if (number === 1) socket.end();
      else socket.write(goodResponse);
    });
    expect((await server.predict()).status).toBe(200);
    expect(server.upstream.received).toHaveLength(2);
  });

  const half = goodResponse.slice(0, goodResponse.indexOf("\r\n\r\n") + 40);
  const chunkedHalf =
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n8\r\n{"choice\r\n';

  for (const [what, breakOff] of [
    [
      "reset half-way through the response",
      ({ socket }) => socket.write(half, () => socket.resetAndDestroy()),
    ],
    ["closed half-way through the response", ({ socket }) => socket.end(half)],
    ["closed half-way through a chunked response", ({ socket }) => socket.end(chunkedHalf)],
    [
      "reset half-way through a chunked response",
      ({ socket }) => socket.write(chunkedHalf, () => socket.resetAndDestroy()),
    ],
  ] as [string, Behaviour][]) {
    test(`a connection that is ${what} is 503 unavailable and not retried`, async () => {
      await using server = await presageWithRawUpstream(breakOff);
      for (const ask of [server.predict, server.chat]) {
        server.upstream.received.length = 0;
        const response = await ask();
        expect(response.status).toBe(503);
        expect(await response.json()).toMatchObject(unavailable);
        expect(server.upstream.received).toHaveLength(1);
      }
    });
  }

  /** Sends `count` predictions, `concurrency` at a time, and returns how often each status came back. */
  async function load(
    predict: () => Promise<Response>,
    count: number,
    concurrency: number,
  ): Promise<Record<string, number>> {
    const statuses: Record<string, number> = {};
    let left = count;
    const worker = async () => {
      while (left-- > 0) {
        const response = await predict();
        await response.arrayBuffer();
        statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    return statuses;
  }

  const draw = createDraw(seed, 0);
  for (const [what, behave] of [
    [
      "closes each connection after a few responses without announcing it",
      ({ socket, numberOnConnection }) => {
        if (numberOnConnection === 3) socket.end(goodResponse);
        else socket.write(goodResponse);
      },
    ],
    [
      "resets each connection right after every response",
      ({ socket }) => socket.write(goodResponse, () => setTimeout(() => socket.resetAndDestroy(), 1)),
    ],
    [
      "closes connections at random times between responses",
      ({ socket }) => {
        socket.write(goodResponse);
        setTimeout(() => draw.chance(0.5) && socket.destroy(), draw.below(4));
      },
    ],
    [
      "announces that it closes the connection, and does",
      ({ socket }) => socket.end(httpResponse(200, completion("Open."), { connection: "close" })),
    ],
  ] as [string, Behaviour][]) {
    test(
      `no call fails when the upstream ${what}`,
      seeded(async () => {
        await using server = await presageWithRawUpstream(behave);
        expect(await load(server.predict, 600, 32)).toStrictEqual({ "200": 600 });
      }),
      120_000,
    );
  }

  test("no call fails when every kept-alive connection is dead: the last try opens a new one", async () => {
    await using server = await presageWithRawUpstream(({ socket, numberOnConnection }) => {
      if (numberOnConnection > 1) socket.resetAndDestroy();
      else setTimeout(() => socket.write(goodResponse), 20);
    });
    expect(await load(server.predict, 16, 16)).toStrictEqual({ "200": 16 });
    expect(await load(server.predict, 4, 1)).toStrictEqual({ "200": 4 });
  });
});
