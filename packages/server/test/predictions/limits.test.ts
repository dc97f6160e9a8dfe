import { expect, test } from "bun:test";
import { ErrorResponse } from "@presage/contract";
import { createSignInPath } from "../../src/app/compose-accounts.ts";
import type { RawEnvironment } from "../../src/config/values.ts";
import { expectEventually } from "../support/eventually.ts";
import { errorBody } from "../support/presage/error-body.ts";
import { startPresage, type TestPresage, testKey } from "../support/presage/presage.ts";
import { chatRequest, prediction } from "../support/presage/presage-with-raw-upstream.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { apiKeyClient } from "../support/resources/api-keys.ts";
import { shiftedClock } from "../support/shifted-clock.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { completion, startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";

interface Limited extends AsyncDisposable {
  databaseUrl: string;
  presage: TestPresage;
  upstream: TestUpstream;
  predict(key?: string, body?: unknown): Promise<Response>;
  chat(key?: string): Promise<Response>;
}

/** How many requests the key has left, as stated by a response. */
function rateOf({ headers }: Response): { limit: number; remaining: number } | undefined {
  const [limit, remaining] = ["limit", "remaining"].map((name) =>
    headers.get(`x-ratelimit-${name}-requests`),
  );
  return limit === null && remaining === null
    ? undefined
    : { limit: Number(limit), remaining: Number(remaining) };
}

/** Checks that a limit of Presage rejected this, and returns the seconds to wait. */
async function expectLimited(response: Response, status: number, category: string): Promise<number> {
  expect(response.status).toBe(status);
  const body = await errorBody(response);
  expect(ErrorResponse.parse(body).detail).not.toBe("");
  expect(body).toStrictEqual({ detail: expect.any(String), category });
  const retryAfter = response.headers.get("retry-after") ?? "";
  expect(retryAfter).toMatch(/^[1-9]\d*$/);
  return Number(retryAfter);
}

/** A body of undeclared length. */
function streamed(content: string): ReadableStream<Uint8Array> {
  const [half, bytes] = [content.length / 2, new TextEncoder().encode(content)];
  return new ReadableStream({
    async start(controller) {
      for (const part of [bytes.slice(0, half), bytes.slice(half)]) {
        controller.enqueue(part);
        await Bun.sleep(5);
      }
      controller.close();
    },
  });
}

/** A response that is sent when the test says so. */
function heldAnswer() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    release: () => resolve(),
    answer: async () => {
      await promise;
      return Response.json(completion("At last."));
    },
  };
}

onAnyDatabase((database) => {
  async function limited(environment: RawEnvironment): Promise<Limited> {
    const upstream = startUpstream();
    const databaseUrl = await database.create();
    const presage = await startPresage({
      PRESAGE_DATABASE_URL: databaseUrl,
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_UPSTREAM_MODEL: "test-model",
      PRESAGE_UPSTREAM_RETRIES: "0",
      ...environment,
    });
    const post = (path: string, body: unknown, key: string) =>
      presage.call("POST", path, body, { "x-api-key": key });
    return {
      databaseUrl,
      presage,
      upstream,
      predict: (key = testKey, body = prediction) => post("/v1/predict", body, key),
      chat: (key = testKey) => post("/v1/chat/completions", chatRequest, key),
      async [Symbol.asyncDispose]() {
        await presage.stop();
        await upstream.stop();
      },
    };
  }
  const inFlight = (presage: TestPresage) => readMetric(presage, "presage_predictions_in_flight");

  test("without a limit, no response mentions one", async () => {
    await using server = await limited({});
    expect(rateOf(await server.predict())).toBeUndefined();
  });

  test("each response says how many requests are left, even if it failed; beyond the limit it is 429", async () => {
    await using server = await limited({ PRESAGE_RATE_LIMIT_RPM: "5" });
    server.upstream.answer = () => new Response("broken", { status: 500 });
    const failed = await server.predict();
    expect([failed.status, rateOf(failed)]).toEqual([502, { limit: 5, remaining: 4 }]);
    server.upstream.answer = () => Response.json(completion("Fine."));
    const fine = await server.predict();
    expect([fine.status, rateOf(fine)]).toEqual([200, { limit: 5, remaining: 3 }]);
    const chatted = await server.chat();
    expect([chatted.status, rateOf(chatted)]).toEqual([200, { limit: 5, remaining: 2 }]);
    const notValid = await server.predict(testKey, {});
    expect([notValid.status, rateOf(notValid)]).toEqual([422, { limit: 5, remaining: 1 }]);
    const noJson = await server.predict(testKey, "{");
    expect([noJson.status, rateOf(noJson)]).toEqual([422, { limit: 5, remaining: 0 }]);
    for (const refused of [await server.predict(), await server.chat(), await server.predict(testKey, {})]) {
      expect(rateOf(refused)).toEqual({ limit: 5, remaining: 0 });
      expect(await expectLimited(refused, 429, "rate_limit")).toBeLessThanOrEqual(12);
    }
    expect(server.upstream.received).toHaveLength(3);
  });

  test("after Retry-After the key may call again, as often as the rate has refilled", async () => {
    await using server = await limited({ PRESAGE_RATE_LIMIT_RPM: "45" });
    using clock = shiftedClock();
    const startedAtMs = performance.now();
    let allowed = 0;
    let refused = await server.predict();
    for (; refused.status === 200; refused = await server.predict()) allowed += 1;
    const waitS = await expectLimited(refused, 429, "rate_limit");
    clock.advance(waitS * 1_000);
    for (; (await server.predict()).status === 200; ) allowed += 1;
    const elapsedMinutes = (performance.now() - startedAtMs) / 60_000;
    expect(allowed).toBeGreaterThan(45);
    expect(allowed).toBeLessThanOrEqual(45 + Math.ceil(45 * elapsedMinutes));
  });

  test("the sessions of a user share a rate of their own", async () => {
    await using server = await limited({ PRESAGE_RATE_LIMIT_RPM: "2" });
    await using store = await openStore(server.databaseUrl);
    const headersOf = async () => {
      const signInAddress = server.presage.url + (await createSignInPath(store));
      const browser = await signInLocally({ url: server.presage.url, signInAddress });
      return (await sessionOf(browser, server.databaseUrl)).headers;
    };
    const [one, other] = [await headersOf(), await headersOf()];
    const predict = async (headers: Record<string, string>) =>
      (await server.presage.call("POST", "/v1/predict", prediction, headers)).status;
    expect([await predict(one), await predict(other), await predict(one), await predict(other)]).toEqual([
      200, 200, 429, 429,
    ]);
    expect((await server.predict()).status).toBe(200);
  });

  test("each key has its own rate, and managing keys does not count", async () => {
    await using server = await limited({ PRESAGE_RATE_LIMIT_RPM: "1" });
    const { create, list, use } = apiKeyClient(() => server.presage);
    const { key } = await create("another");
    for (const each of [testKey, key]) {
      expect((await server.predict(each)).status).toBe(200);
      await expectLimited(await server.chat(each), 429, "rate_limit");
    }
    for (let round = 0; round < 5; round++) {
      await create(`round ${round}`);
      expect(await use(testKey)).toBe(200);
      expect((await server.presage.call("GET", "/v1/models")).status).toBe(200);
    }
    expect(await list()).toHaveLength(7);
    expect(rateOf(await server.presage.call("GET", "/v1/me"))).toBeUndefined();
  });

  test("of many concurrent calls to both routes at most the limit succeed", async () => {
    await using server = await limited({ PRESAGE_RATE_LIMIT_RPM: "20" });
    const startedAtMs = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 120 }, (_, index) => (index % 2 === 0 ? server.predict() : server.chat())),
    );
    const cameInMeanwhile = Math.ceil(((performance.now() - startedAtMs) / 60_000) * 20);
    const allowed = answers.filter(({ status }) => status === 200);
    expect(allowed.length).toBeGreaterThanOrEqual(20);
    expect(allowed.length).toBeLessThanOrEqual(20 + cameInMeanwhile);
    expect(server.upstream.received).toHaveLength(allowed.length);
    for (const refused of answers.filter(({ status }) => status !== 200))
      await expectLimited(refused, 429, "rate_limit");
    expect(await inFlight(server.presage)).toBe(0);
  });

  test("beyond the maximum concurrent predictions it is 503, without using up the key's rate", async () => {
    await using server = await limited({ PRESAGE_MAX_IN_FLIGHT: "2", PRESAGE_RATE_LIMIT_RPM: "3" });
    const { create } = apiKeyClient(() => server.presage);
    const { key } = await create("another");
    const { answer, release } = heldAnswer();
    server.upstream.answer = answer;
    const held = [server.predict(), server.chat(key)];
    await expectEventually(() => inFlight(server.presage), 2);
    for (let round = 0; round < 10; round++) {
      await expectLimited(await server.predict(), 503, "unavailable");
      await expectLimited(await server.chat(key), 503, "unavailable");
    }
    expect((await server.presage.call("GET", "/v1/me")).status).toBe(200);
    release();
    for (const answered of held) expect((await answered).status).toBe(200);
    for (const each of [testKey, key]) {
      const next = await server.predict(each);
      expect([next.status, rateOf(next)]).toEqual([200, { limit: 3, remaining: 1 }]);
    }
    expect(server.upstream.received).toHaveLength(4);
  });

  test("a prediction that failed, was invalid or took too long is no longer in flight", async () => {
    await using server = await limited({ PRESAGE_MAX_IN_FLIGHT: "1", PRESAGE_UPSTREAM_TIMEOUT_MS: "3000" });
    server.upstream.answer = () => new Response("broken", { status: 500 });
    for (let round = 0; round < 3; round++) {
      expect((await server.predict()).status).toBe(502);
      expect((await server.predict(testKey, {})).status).toBe(422);
    }
    const { answer, release } = heldAnswer();
    server.upstream.answer = answer;
    expect((await server.predict()).status).toBe(504);
    release();
    expect((await server.predict()).status).toBe(200);
  });

  test("a prediction whose client disconnected is no longer in flight", async () => {
    await using server = await limited({ PRESAGE_MAX_IN_FLIGHT: "1" });
    const { answer, release } = heldAnswer();
    server.upstream.answer = answer;
    const hangUp = new AbortController();
    const hungUp = fetch(`${server.presage.url}/v1/predict`, {
      method: "POST",
      headers: { "x-api-key": testKey },
      body: JSON.stringify(prediction),
      signal: hangUp.signal,
    }).catch(() => "hung up");
    await expectEventually(() => inFlight(server.presage), 1);
    hangUp.abort();
    expect(await hungUp).toBe("hung up");
    await expectEventually(() => inFlight(server.presage), 0);
    release();
    expect((await server.predict()).status).toBe(200);
  });

  test("a body that is too large is 413, with or without a declared length", async () => {
    await using server = await limited({ PRESAGE_MAX_BODY_BYTES: "1000" });
    const text = JSON.stringify(prediction);
    const [largest, tooLarge] = [text.padEnd(1_000), text.padEnd(1_001)];
    for (const body of [largest, streamed(largest)])
      expect((await server.predict(testKey, body)).status).toBe(200);
    for (const path of ["/v1/predict", "/v1/chat/completions", "/v1/api-keys"]) {
      for (const body of [tooLarge, streamed(tooLarge), "x".repeat(5_000_000)]) {
        const response = await server.presage.call("POST", path, body);
        expect(response.status).toBe(413);
        expect(await errorBody(response)).toStrictEqual({
          detail: expect.stringMatching(/^The request body is larger than 1000 bytes/),
        });
      }
    }
    expect(server.upstream.received).toHaveLength(2);
    expect((await server.predict()).status).toBe(200);
  });
});
