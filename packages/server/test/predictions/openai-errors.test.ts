import { beforeEach, expect, test } from "bun:test";
import type { OpenAiError } from "@presage/contract";
import { sql } from "kysely";
import { listen } from "../../src/app/listen.ts";
import type { RawEnvironment } from "../../src/config/values.ts";
import { expectEventually } from "../support/eventually.ts";
import { startPresage, type TestPresage, testKey } from "../support/presage/presage.ts";
import { chatRequest } from "../support/presage/presage-with-raw-upstream.ts";
import { readMetric } from "../support/presage/read-metric.ts";
import { usePresage } from "../support/presage/use-presage.ts";
import { sessionOf, signInLocally } from "../support/sign-in/session.ts";
import { onAnyDatabase } from "../support/store/databases.ts";
import { openStore } from "../support/store/open-store.ts";
import { completion } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const chatPath = "/v1/chat/completions";
const upstream = useUpstream();
beforeEach(() => {
  upstream.answer = () => Response.json(completion("Hi."));
});

const none = { param: null, category: null, upstream_status: null };

/** Checks that `error` repeats the fields next to it, and returns its other fields. */
async function readError(response: Response) {
  const body = (await response.json()) as {
    detail: unknown;
    category?: OpenAiError["category"];
    upstream_status?: number;
    error?: OpenAiError;
  };
  const { error } = body;
  expect([error?.category ?? null, error?.upstream_status ?? null]).toEqual([
    body.category ?? null,
    body.upstream_status ?? null,
  ]);
  if (typeof body.detail === "string") expect(error?.message).toBe(body.detail);
  return { status: response.status, ...error };
}

function upstreamFails(status: number, message = "no"): void {
  upstream.answer = () => Response.json({ error: { message } }, { status });
}

async function disposable(environment: RawEnvironment): Promise<TestPresage & AsyncDisposable> {
  const presage = await startPresage(environment);
  return { ...presage, [Symbol.asyncDispose]: presage.stop };
}

onAnyDatabase((database) => {
  const presage = usePresage({
    database,
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_RETRIES: "0",
    PRESAGE_UPSTREAM_TIMEOUT_MS: "300",
    PRESAGE_MAX_BODY_BYTES: "4096",
  });
  const chat = async (body: unknown = chatRequest, headers?: Record<string, string>) =>
    await readError(await presage.call("POST", chatPath, body, headers));

  test("a refusal of Presage itself has the code and the message that stand in its body", async () => {
    expect(await chat({ ...chatRequest, stream: true })).toMatchObject({
      ...none,
      status: 400,
      type: "invalid_request_error",
      code: "unsupported",
    });
    expect(await chat(chatRequest, {})).toMatchObject({ ...none, status: 401, code: "invalid_api_key" });
    const session = await sessionOf(await signInLocally(presage), presage.databaseUrl);
    expect(await chat(chatRequest, { cookie: session.cookie })).toMatchObject({
      ...none,
      status: 403,
      code: "forbidden",
    });
    expect(await chat({ messages: [{ role: "user", content: "x".repeat(5_000) }] })).toMatchObject({
      status: 413,
      type: "invalid_request_error",
      code: "body_too_large",
    });
    for (const path of [chatPath, "/v1/models", "/v1/models/any/model"]) {
      expect(await readError(await presage.call("DELETE", path))).toMatchObject({
        ...none,
        status: 405,
        code: "method_not_allowed",
      });
    }
    expect(await readError(await presage.call("GET", "/v1/models", undefined, {}))).toMatchObject({
      status: 401,
      code: "invalid_api_key",
    });
  });

  test("a failure of the upstream has a code for what can be done about it", async () => {
    upstreamFails(400, "This model's maximum context length is 10 tokens.");
    expect(await chat()).toMatchObject({
      status: 413,
      type: "invalid_request_error",
      code: "context_length_exceeded",
      category: "context_exceeded",
      upstream_status: 400,
    });
    upstreamFails(429);
    expect(await chat()).toMatchObject({
      status: 429,
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      category: "rate_limit",
    });
    upstreamFails(500);
    expect(await chat()).toMatchObject({
      status: 502,
      type: "server_error",
      code: "upstream_error",
      category: "upstream",
      upstream_status: 500,
    });
    upstreamFails(503);
    expect(await chat()).toMatchObject({ status: 503, type: "server_error", code: "upstream_unavailable" });
    upstream.answer = () => new Promise(() => {});
    expect(await chat()).toMatchObject({ status: 504, type: "server_error", code: "upstream_timeout" });
  });

  test("a request that is not valid is explained in words, with its first field as OpenAI writes it", async () => {
    const of = async (body: unknown, headers?: Record<string, string>) => {
      const { status, message, param, code } = await chat(body, headers);
      expect([status, code]).toEqual([422, "invalid_request"]);
      return { message, param };
    };
    expect(await of({ messages: [{ role: "user", content: null }] })).toEqual({
      message: "messages[0].content: Input should be a valid string",
      param: "messages[0].content",
    });
    const wrong = { messages: [{ role: "tool", content: "a" }], max_tokens: 0, params: { top_p: 2 } };
    expect(await of(wrong)).toEqual({
      message:
        "messages[0].role: Input should be 'system', 'user' or 'assistant'; " +
        "params.top_p: Input should be less than or equal to 1; max_tokens: Input should be greater than 0",
      param: "messages[0].role",
    });
    expect(await of({})).toEqual({ message: "messages: Field required", param: "messages" });
    expect((await of("null")).param).toBeNull();
    expect(await of("{nonsense")).toEqual({
      message: expect.stringMatching(/^body: JSON decode error: .+/),
      param: null,
    });
    const gzip = { "x-api-key": testKey, "content-encoding": "gzip" };
    expect(await of(Bun.gzipSync(JSON.stringify(chatRequest)), gzip)).toEqual({
      message: "content-encoding: Value error, Input should be identity; only uploads may be compressed",
      param: "content-encoding",
    });
    const many = { messages: Array.from({ length: 9 }, () => ({ role: "user" })) };
    expect((await of(many)).message).toEndWith("messages[4].content: Field required; and 4 more");
  });

  // docs/openai-clients.md lists these.
  test("what OpenAI accepts and the contract does not is refused before the upstream is called", async () => {
    upstream.received.length = 0;
    const message = (fields: Record<string, unknown>) => ({ messages: [{ role: "user", ...fields }] });
    for (const [body, status, param] of [
      [{ ...chatRequest, stream: true }, 400, null],
      [message({ role: "tool", content: "a" }), 422, "messages[0].role"],
      [message({ role: "developer", content: "a" }), 422, "messages[0].role"],
      [message({ role: "function", content: "a" }), 422, "messages[0].role"],
      [message({ content: [{ type: "text", text: "a" }] }), 422, "messages[0].content"],
      [message({ role: "assistant", content: null, tool_calls: [] }), 422, "messages[0].content"],
      [message({ role: "assistant", tool_calls: [] }), 422, "messages[0].content"],
      [{ ...chatRequest, temperature: null }, 422, "temperature"],
      [{ ...chatRequest, stream: null }, 422, "stream"],
    ] as const) {
      expect([body, await chat(body)]).toEqual([body, expect.objectContaining({ status, param })]);
    }
    expect(upstream.received).toHaveLength(0);
  });

  test("paths that OpenAI's clients do not call have no `error`", async () => {
    const refusals = [
      await presage.call("POST", "/v1/predict", {}),
      await presage.call("POST", "/v1/predict", {}, {}),
      await presage.call("PUT", "/v1/api-keys"),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([422, 401, 405]);
    for (const response of refusals) expect(await response.json()).not.toHaveProperty("error");
  });

  test("the limits of Presage and an unexpected error have codes too", async () => {
    const databaseUrl = await database.create();
    await using presage = await disposable({
      PRESAGE_DATABASE_URL: databaseUrl,
      PRESAGE_UPSTREAM_URL: upstream.url,
      PRESAGE_RATE_LIMIT_RPM: "1",
      PRESAGE_MAX_IN_FLIGHT: "1",
    });
    const ask = async (key = testKey) =>
      await readError(await presage.call("POST", chatPath, chatRequest, { "x-api-key": key }));
    const session = await sessionOf(await signInLocally(presage), databaseUrl);
    const held = Promise.withResolvers<void>();
    upstream.answer = async () => {
      await held.promise;
      return Response.json(completion("At last."));
    };
    const first = presage.call("POST", chatPath, chatRequest);
    await expectEventually(() => readMetric(presage, "presage_predictions_in_flight"), 1);
    expect(await ask()).toMatchObject({ status: 503, type: "server_error", code: "overloaded" });
    held.resolve();
    expect((await first).status).toBe(200);
    expect(await ask()).toMatchObject({
      status: 429,
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      category: "rate_limit",
    });
    await using store = await openStore(databaseUrl);
    await sql`alter table api_keys rename to keys_of_another_schema`.execute(store.database);
    expect(await ask("psg_never-seen-before-0123456789")).toMatchObject({
      status: 503,
      type: "server_error",
      code: "store_unavailable",
    });
    await sql`alter table sessions rename to sessions_of_another_schema`.execute(store.database);
    const { cookie } = session;
    expect(await readError(await presage.call("GET", "/v1/models", undefined, { cookie }))).toMatchObject({
      ...none,
      status: 500,
      message: expect.stringMatching(/^Internal server error\. Request id: \S+$/),
      type: "server_error",
      code: "internal_error",
    });
  });
});

test("a server that is starting says so to OpenAI's clients too", async () => {
  const starting = listen({ host: "127.0.0.1", port: 0 });
  for (const path of ["/v1/models", "/v1/models/org/model", chatPath]) {
    expect(await readError(await fetch(starting.address + path))).toMatchObject({
      status: 503,
      message: "The server is starting.",
      type: "server_error",
      code: "overloaded",
      category: "unavailable",
    });
  }
  expect(await (await fetch(`${starting.address}/v1/predict`)).json()).not.toHaveProperty("error");
  await starting.drain();
});
