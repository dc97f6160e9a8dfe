import { describe, expect, test } from "bun:test";
import { errorBody } from "../support/presage/error-body.ts";
import {
  chatRequest,
  type PresageWithRawUpstream,
  prediction,
  presageOver,
} from "../support/presage/presage-with-raw-upstream.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { upstreamClients } from "../support/upstream/as-replicas.ts";
import { goodResponse, httpResponse, startRawUpstream } from "../support/upstream/raw-upstream.ts";
import { isWholeRun } from "../support/whole-run.ts";

describe.each(upstreamClients)("over %s", (client) => {
  const presageWithRawUpstream = presageOver(client);

  /** Long enough for a busy machine to have sent the request by then. */
  const deadlineMs = 2_000;
  /** How much later than its deadline a response may come on a busy machine. */
  const toleranceMs = 20_000;
  const environment = { PRESAGE_UPSTREAM_TIMEOUT_MS: String(deadlineMs) };

  async function expectTimeout(ask: PresageWithRawUpstream["predict"]): Promise<void> {
    const startedAtMs = performance.now();
    const response = await ask();
    const tookMs = performance.now() - startedAtMs;
    expect(response.status).toBe(504);
    expect(await errorBody(response)).toStrictEqual({ detail: expect.any(String), category: "timeout" });
    expect(tookMs).toBeGreaterThanOrEqual(deadlineMs - 10);
    expect(tookMs).toBeLessThan(deadlineMs + toleranceMs);
  }

  // The other tests mostly wait, each for its own server, so those of one client run concurrently; this test separates the clients.
  test("an upstream that is slow to send its first byte is waited for", async () => {
    await using server = await presageWithRawUpstream(({ socket }) =>
      setTimeout(() => socket.write(goodResponse), 700),
    );
    const responses = await Promise.all([server.predict(), server.chat()]);
    expect(responses.map(({ status }) => status)).toStrictEqual([200, 200]);
    expect(server.upstream.received).toHaveLength(2);
  });

  const inWholeRun: typeof test.concurrent | (() => void) = isWholeRun ? test.concurrent : () => {};
  inWholeRun(
    "no limit of Bun's own ends a call before the deadline",
    async () => {
      // Bun gives up a silent response after 300 s. With 1 in this variable that takes about 8 s.
      const upstream = await startRawUpstream(({ socket }) =>
        setTimeout(() => socket.write(goodResponse), 10_000),
      );
      await using presage = await spawnPresage({
        BUN_CONFIG_HTTP_IDLE_TIMEOUT: "1",
        PRESAGE_DATABASE_URL: "sqlite::memory:",
        PRESAGE_UPSTREAM_CLIENT: client,
        PRESAGE_UPSTREAM_URL: upstream.url,
        PRESAGE_UPSTREAM_MODEL: "test-model",
        PRESAGE_UPSTREAM_RETRIES: "0",
      });
      const responses = await Promise.all([
        presage.call("POST", "/v1/predict", prediction),
        presage.call("POST", "/v1/chat/completions", chatRequest),
      ]);
      expect(responses.map(({ status }) => status)).toStrictEqual([200, 200]);
      expect(upstream.received).toHaveLength(2);
      await upstream.stop();
    },
    120_000,
  );

  test.concurrent("an upstream that sends its response byte by byte is waited for", async () => {
    await using server = await presageWithRawUpstream(async ({ socket }) => {
      for (const byte of goodResponse) {
        socket.write(byte);
        await Bun.sleep(1);
      }
    });
    const response = await server.predict();
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ response: { content: "The door is open." } });
  });

  test.concurrent("an upstream that never responds is 504 timeout at the deadline, and is not retried", async () => {
    await using server = await presageWithRawUpstream(() => {}, environment);
    await Promise.all([expectTimeout(server.predict), expectTimeout(server.chat)]);
    expect(server.upstream.received).toHaveLength(2);
  });

  test.concurrent("an upstream that stalls half-way through its response is 504 timeout at the deadline", async () => {
    const half = goodResponse.slice(0, -30);
    await using server = await presageWithRawUpstream(({ socket }) => socket.write(half), environment);
    await Promise.all([expectTimeout(server.predict), expectTimeout(server.chat)]);
    expect(server.upstream.received).toHaveLength(2);
  });

  test.concurrent("an upstream that stalls in the middle of the response head is 504 timeout at the deadline", async () => {
    await using server = await presageWithRawUpstream(
      ({ socket }) => socket.write("HTTP/1.1 200 OK\r\nconte"),
      environment,
    );
    await expectTimeout(server.predict);
  });

  test.concurrent("an upstream that trickles its response past the deadline is 504 timeout too", async () => {
    await using server = await presageWithRawUpstream(({ socket }) => {
      socket.write(goodResponse.slice(0, -30));
      const trickle = setInterval(() => socket.write(" "), 200);
      socket.on("close", () => clearInterval(trickle));
    }, environment);
    await expectTimeout(server.predict);
  });

  test.concurrent("an upstream that does not list its models is 504 timeout at the deadline", async () => {
    await using server = await presageWithRawUpstream(() => {}, {
      ...environment,
      PRESAGE_UPSTREAM_MODEL: undefined,
    });
    await expectTimeout(server.predict);
  });

  test.concurrent("at the deadline the upstream connection is closed", async () => {
    const closed = Promise.withResolvers<string>();
    await using server = await presageWithRawUpstream(
      ({ socket }) => socket.on("close", () => closed.resolve("closed")),
      environment,
    );
    await expectTimeout(server.predict);
    expect(await Promise.race([closed.promise, Bun.sleep(30_000).then(() => "still open")])).toBe("closed");
  });

  for (const [what, behave, upstream_status] of [
    ["a 503", httpResponse(503, { error: "busy" }), 503],
    ["a reset connection", undefined, undefined],
  ] as const) {
    test.concurrent(`retries after ${what} end before the deadline, with the last error`, async () => {
      const asked = { before: 0, after: 0 };
      await using server = await presageWithRawUpstream(
        ({ socket, body }) => {
          asked[body.includes("Is the door open?") ? "after" : "before"] += 1;
          if (behave === undefined) socket.resetAndDestroy();
          else socket.write(behave);
        },
        { ...environment, PRESAGE_UPSTREAM_RETRIES: "20" },
      );
      async function expectUnavailable(ask: PresageWithRawUpstream["predict"]): Promise<void> {
        const response = await ask();
        expect(response.status).toBe(503);
        expect(response.headers.get("retry-after")).toMatch(/^[123]$/);
        expect(await errorBody(response)).toMatchObject({
          category: "unavailable",
          ...(upstream_status && { upstream_status }),
        });
      }
      await expectUnavailable(server.predict);
      // A request that was sent in time may still be on its way.
      await Bun.sleep(200);
      const askedInTime = asked.before;
      expect(askedInTime).toBeGreaterThanOrEqual(1);
      // Further requests are retried with the same pauses, for longer than any of them.
      for (let round = 0; round < 4; round++) await expectUnavailable(server.chat);
      expect(asked.after).toBeGreaterThanOrEqual(3);
      expect(asked.before).toBe(askedInTime);
    });
  }
});
