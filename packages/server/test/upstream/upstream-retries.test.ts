import { describe, expect, test } from "bun:test";
import { errorBody } from "../support/presage/error-body.ts";
import { prediction, presageOver } from "../support/presage/presage-with-raw-upstream.ts";
import { upstreamClients } from "../support/upstream/as-replicas.ts";
import { goodResponse, httpResponse } from "../support/upstream/raw-upstream.ts";

describe.each(upstreamClients)("over %s", (client) => {
  const presageWithRawUpstream = presageOver(client);

  const busy = { error: { message: "All slots are busy." } };

  test("an upstream that returns 503 twice is called a third time", async () => {
    await using server = await presageWithRawUpstream(({ socket, number }) => {
      socket.write(number < 3 ? httpResponse(503, busy) : goodResponse);
    });
    expect((await server.predict()).status).toBe(200);
    expect(server.upstream.received).toHaveLength(3);
  });

  test("an upstream that keeps returning 503 is 503 unavailable with its body and a Retry-After", async () => {
    await using server = await presageWithRawUpstream(({ socket }) => socket.write(httpResponse(503, busy)));
    const response = await server.chat();
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toMatch(/^[123]$/);
    expect(await errorBody(response)).toStrictEqual({
      detail: expect.any(String),
      category: "unavailable",
      upstream_status: 503,
      upstream_body: JSON.stringify(busy),
    });
    expect(server.upstream.received).toHaveLength(3);
  });

  test("a 503 with a longer Retry-After than the maximum pause is forwarded immediately", async () => {
    await using server = await presageWithRawUpstream(({ socket }) =>
      socket.write(httpResponse(503, busy, { "retry-after": "7" })),
    );
    for (const ask of [server.predict, server.chat]) {
      server.upstream.received.length = 0;
      const response = await ask();
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).toBe("7");
      expect(await response.json()).toMatchObject({ category: "unavailable", upstream_status: 503 });
      expect(server.upstream.received).toHaveLength(1);
    }
  });

  test("a 503 with a short Retry-After is retried only after it", async () => {
    const askedAtMs: number[] = [];
    await using server = await presageWithRawUpstream(({ socket, number }) => {
      askedAtMs.push(performance.now());
      socket.write(number === 1 ? httpResponse(503, busy, { "retry-after": "1" }) : goodResponse);
    });
    expect((await server.predict()).status).toBe(200);
    const [first = 0, second = 0] = askedAtMs;
    expect(second - first).toBeGreaterThanOrEqual(990);
  });

  test("a 503 whose Retry-After reaches the deadline is forwarded immediately", async () => {
    await using server = await presageWithRawUpstream(
      ({ socket }) => socket.write(httpResponse(503, busy, { "retry-after": "2" })),
      { PRESAGE_UPSTREAM_TIMEOUT_MS: "2000" },
    );
    expect((await server.predict()).status).toBe(503);
    expect(server.upstream.received).toHaveLength(1);
  });

  test("an error response that breaks off is what its status says", async () => {
    await using server = await presageWithRawUpstream(({ socket, number }) => {
      const cut = httpResponse(number === 1 ? 503 : 429, busy, { "retry-after": "1" }).slice(0, -9);
      if (number === 1) socket.end(cut);
      else socket.write(cut, () => socket.resetAndDestroy());
    });
    const response = await server.predict();
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await response.json()).toMatchObject({ category: "rate_limit", upstream_status: 429 });
    expect(server.upstream.received).toHaveLength(2);
  });

  for (const [status, answered, category] of [
    [500, 502, "upstream"],
    [502, 502, "upstream"],
    [400, 502, "upstream"],
    [401, 502, "upstream"],
    [404, 502, "upstream"],
    [413, 413, "context_exceeded"],
    [429, 429, "rate_limit"],
    [504, 504, "timeout"],
    [529, 503, "unavailable"],
  ] as const) {
    test(`an upstream's ${status} is not retried`, async () => {
      await using server = await presageWithRawUpstream(({ socket }) =>
        socket.write(httpResponse(status, busy)),
      );
      const response = await server.predict();
      expect(response.status).toBe(answered);
      expect(await response.json()).toMatchObject({ category, upstream_status: status });
      expect(server.upstream.received).toHaveLength(1);
    });
  }

  test("without retries neither a 503 nor a reset connection is retried", async () => {
    await using server = await presageWithRawUpstream(
      ({ socket, number }) => {
        // A kept connection that is reset is replaced by a new one, which is no retry.
        if (number === 1) socket.end(httpResponse(503, busy, { connection: "close" }));
        else socket.resetAndDestroy();
      },
      { PRESAGE_UPSTREAM_RETRIES: "0" },
    );
    expect((await server.predict()).status).toBe(503);
    expect(server.upstream.received).toHaveLength(1);
    expect((await server.predict()).status).toBe(503);
    expect(server.upstream.received).toHaveLength(2);
  });

  test("the look-up of the model's name is retried too, and shared by all callers", async () => {
    await using server = await presageWithRawUpstream(
      ({ socket, head, number }) => {
        if (number === 1) socket.resetAndDestroy();
        else if (head.startsWith("GET ")) socket.write(httpResponse(200, { data: [{ id: "served" }] }));
        else socket.write(goodResponse);
      },
      { PRESAGE_UPSTREAM_MODEL: undefined },
    );
    const responses = await Promise.all(Array.from({ length: 8 }, () => server.predict()));
    expect(responses.map(({ status }) => status)).toStrictEqual(Array(8).fill(200));
    const asked = server.upstream.received.map(({ head }) => head.split("\r\n")[0]);
    expect(asked.filter((line) => line?.startsWith("GET /v1/models "))).toHaveLength(2);
    expect(server.upstream.received.at(-1)?.body).toContain('"served"');
  });

  test("a caller rejected by the upstream does not affect the next one", async () => {
    await using server = await presageWithRawUpstream(({ socket, number }) => {
      socket.write(number === 1 ? httpResponse(500, busy) : goodResponse);
    });
    expect((await server.presage.call("POST", "/v1/predict", prediction)).status).toBe(502);
    expect((await server.presage.call("POST", "/v1/predict", prediction)).status).toBe(200);
  });
});
