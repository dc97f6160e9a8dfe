import { describe, expect, test } from "bun:test";
import { openEnvSocket } from "../support/openenv/openenv-socket.ts";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { attributesOf, startCollector } from "../support/telemetry/collector.ts";
import { passing, say } from "../support/upstream/judge.ts";
import { completion, startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";
import { useUpstream } from "../support/upstream/use-upstream.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
const tracestate = "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7";

test("each message of a WebSocket has a span in the trace of its handshake", async () => {
  const collector = startCollector();
  const presage = await startPresage(collector.environment("traces"));
  const socket = await openEnvSocket(presage.url, "sandbox", { "x-api-key": testKey, traceparent });
  await socket.reset({ index: 0 });
  await socket.step("look around");
  socket.close();
  await presage.stop();
  const spans = collector.spans();
  const path = "/v1/environments/:name/openenv/ws";
  for (const name of [`GET ${path}`, `RESET ${path}`, `STEP ${path}`])
    expect(spans.filter((span) => span.name === name)).toMatchObject([
      { traceId, parentSpanId: "b7ad6b7169203331" },
    ]);
  const step = spans.find(({ name }) => name === `STEP ${path}`);
  const chat = spans.find(({ name }) => name.startsWith("chat "));
  expect([chat?.traceId, chat?.parentSpanId]).toEqual([traceId, step?.spanId]);
});

test("a prediction creates a request span and a GenAI span in the caller's trace, without prompt text", async () => {
  const collector = startCollector();
  const upstream = startUpstream(() => Response.json(completion("the secret answer")));
  const presage = await startPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    ...collector.environment("traces"),
  });
  const headers = {
    "x-api-key": testKey,
    traceparent,
  };
  const body = { interaction: { state: "the secret state", action: "the secret action" } };
  expect((await presage.call("POST", "/v1/predict", body, headers)).status).toBe(200);
  upstream.answer = () => new Response("busy", { status: 429 });
  expect((await presage.call("POST", "/v1/predict", body, headers)).status).toBe(429);
  await presage.stop();

  expect(collector.texts().every((text) => text.startsWith("/v1/traces\n"))).toBeTrue();
  expect(collector.texts().join()).not.toContain("secret");
  const spans = collector.spans();
  const [request, failedRequest] = spans.filter(({ name }) => name === "POST /v1/predict");
  expect(request).toMatchObject({ traceId, parentSpanId: "b7ad6b7169203331" });
  expect(failedRequest?.attributes).toContainEqual({
    key: "http.response.status_code",
    value: { intValue: 429 },
  });
  const chat = spans.find(({ name }) => name === "chat test-model");
  expect(chat).toMatchObject({ traceId, ...(request ? { parentSpanId: request.spanId } : {}) });
  expect(chat?.attributes).toEqual(
    expect.arrayContaining([
      { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
      { key: "gen_ai.request.max_tokens", value: { intValue: 512 } },
      { key: "gen_ai.usage.input_tokens", value: { intValue: 11 } },
      { key: "gen_ai.usage.output_tokens", value: { intValue: 7 } },
    ]),
  );
  const failed = spans.find(({ name }) => name === "chat");
  expect(failed?.attributes).toContainEqual({ key: "error.type", value: { stringValue: "rate_limit" } });
  await upstream.stop();
  await collector.stop();
});

test("with PRESAGE_OTEL_CONTENT=spans a call's span has what was asked and answered, without secrets and without what is long", async () => {
  const collector = startCollector();
  const key = `ghp_${"a1B2".repeat(9)}`;
  const upstream = startUpstream(() => Response.json(completion(`it is ${key}`)));
  const presage = await startPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_OTEL_CONTENT: "spans",
    ...collector.environment("traces"),
  });
  for (const content of [`Is ${key} the key?`, "x".repeat(200_000)]) {
    const body = { messages: [{ role: "user", content }] };
    expect((await presage.call("POST", "/v1/chat/completions", body)).status).toBe(200);
  }
  await presage.stop();
  const chats = collector.spans().filter(({ name }) => name === "chat test-model");
  const said = (role: string, content: string, more = {}) =>
    expect.objectContaining({ role, ...more, parts: [{ type: "text", content }] });
  const answer = [said("assistant", "it is [redacted:github#1]", { finish_reason: "stop" })];
  expect(
    chats.map((span) => {
      const { "gen_ai.input.messages": told, "gen_ai.output.messages": answered } = attributesOf(span);
      return [told, answered].map((text) => text && JSON.parse(String(text)));
    }),
  ).toEqual([
    [[said("user", "Is [redacted:github#1] the key?")], answer],
    [undefined, answer],
  ]);
  await upstream.stop();
  await collector.stop();
});

/** Every request that calls a model. */
const requests = [
  { path: "/v1/predict", body: { interaction: { state: "s", action: "a" } } },
  { path: "/v1/chat/completions", body: { messages: [{ role: "user", content: "Open the door." }] } },
  {
    path: "/v1/evaluate",
    body: {
      evaluated_model_output: "Open.",
      evaluators: [{ evaluator: "judge", profile_name: "system:is-concise" }],
    },
  },
];

function sentTrace({ received }: TestUpstream) {
  return received.map(({ headers }) => ({
    traceparent: headers.get("traceparent"),
    tracestate: headers.get("tracestate"),
  }));
}

describe.each(requests)("The upstream of POST $path", ({ path, body }) => {
  const upstream = useUpstream();

  async function call(headers: Record<string, string>, environment: Record<string, string> = {}) {
    upstream.received.length = 0;
    upstream.answer = () => say(passing);
    const presage = await startPresage({ PRESAGE_UPSTREAM_URL: upstream.url, ...environment });
    const response = await presage.call("POST", path, body, { "x-api-key": testKey, ...headers });
    expect(response.status).toBe(200);
    await presage.stop();
    return sentTrace(upstream);
  }

  async function callAndExport(headers: Record<string, string>) {
    const collector = startCollector();
    const sent = await call(headers, collector.environment("traces"));
    await collector.stop();
    const spans = collector.spans();
    return {
      sent,
      request: spans.find(({ name }) => name === `POST ${path}`),
      chat: spans.find(({ name }) => name === "chat test-model"),
      // A judge's call is below its evaluator's span.
      judge: spans.find(({ name }) => name === "evaluate judge"),
    };
  }

  test("gets the exported span as the parent, in the caller's trace and with its state", async () => {
    const { sent, request, chat, judge } = await callAndExport({ traceparent, tracestate });
    expect(request).toMatchObject({ traceId, parentSpanId: "b7ad6b7169203331", traceState: tracestate });
    expect(chat).toMatchObject({ traceId, parentSpanId: (judge ?? request)?.spanId });
    expect(sent).toEqual([{ traceparent: `00-${traceId}-${chat?.spanId}-01`, tracestate }]);
  });

  test("gets the exported span as the parent if the caller has no trace", async () => {
    const { sent, request, chat } = await callAndExport({ tracestate });
    expect(request?.parentSpanId).toBeUndefined();
    expect(sent).toEqual([{ traceparent: `00-${chat?.traceId}-${chat?.spanId}-01`, tracestate: null }]);
  });

  test("is told that a trace is not recorded if the caller does not record it", async () => {
    const { sent, chat } = await callAndExport({ traceparent: traceparent.replace(/01$/, "00"), tracestate });
    expect(chat).toBeUndefined();
    expect(sent).toEqual([
      { traceparent: expect.stringMatching(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`)), tracestate },
    ]);
  });

  test("gets the caller's trace headers unchanged if no traces are exported", async () => {
    expect(await call({ traceparent, tracestate })).toEqual([{ traceparent, tracestate }]);
    expect(await call({ traceparent })).toEqual([{ traceparent, tracestate: null }]);
    const future = `${traceparent.replace(/^00/, "cc")}-more`;
    expect(await call({ traceparent: future })).toEqual([{ traceparent: future, tracestate: null }]);
  });
});

describe("Without an exporter", () => {
  const upstream = useUpstream();

  async function predictWith(headers: Record<string, string>) {
    upstream.received.length = 0;
    const presage = await startPresage({ PRESAGE_UPSTREAM_URL: upstream.url, PRESAGE_UPSTREAM_RETRIES: "2" });
    const body = { interaction: { state: "s", action: "a" } };
    const { status } = await presage.call("POST", "/v1/predict", body, { "x-api-key": testKey, ...headers });
    expect(status).toBe(200);
    await presage.stop();
    return sentTrace(upstream);
  }

  const nothing = [{ traceparent: null, tracestate: null }];

  test.each([
    "",
    "nonsense",
    traceparent.toUpperCase(),
    `${traceparent}-more`,
    `${traceparent}, ${traceparent}`,
    traceparent.replace(/^00/, "ff"),
    traceparent.replace(traceId, "0".repeat(32)),
    traceparent.replace("b7ad6b7169203331", "0".repeat(16)),
    traceparent.slice(0, -1),
  ])("the invalid traceparent '%s' is dropped, and its tracestate with it", async (invalid) => {
    expect(await predictWith({ traceparent: invalid, tracestate })).toEqual(nothing);
  });

  test("a tracestate without a traceparent is dropped", async () => {
    expect(await predictWith({ tracestate })).toEqual(nothing);
  });

  test.each(["", "nonsense", "UPPER=case", "a=b=c"])(
    "the invalid tracestate '%s' is dropped, and its traceparent is sent",
    async (invalid) => {
      expect(await predictWith({ traceparent, tracestate: invalid })).toEqual([
        { traceparent, tracestate: null },
      ]);
    },
  );

  test("invalid members of a tracestate are dropped", async () => {
    expect(await predictWith({ traceparent, tracestate: `${tracestate}, nonsense` })).toEqual([
      { traceparent, tracestate },
    ]);
  });

  test("every try has the same trace headers", async () => {
    upstream.answer = () =>
      upstream.received.length < 3
        ? new Response("busy", { status: 503 })
        : Response.json(completion("The door is open."));
    const sent = { traceparent, tracestate };
    expect(await predictWith(sent)).toEqual([sent, sent, sent]);
  });
});

test("a judge that does not answer in time ends its span with a timeout", async () => {
  const collector = startCollector();
  const held = Promise.withResolvers<Response>();
  const upstream = startUpstream(() => held.promise);
  const presage = await startPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    PRESAGE_UPSTREAM_TIMEOUT_MS: "300",
    ...collector.environment("traces"),
  });
  const evaluators = [{ evaluator: "judge", profile_name: "system:is-concise" }];
  const response = await presage.call("POST", "/v1/evaluate", {
    evaluated_model_output: "Open.",
    evaluators,
  });
  expect(await response.text()).toContain("timeout: ");
  await presage.stop();
  held.resolve(say(passing));
  const chat = collector.spans().find(({ name }) => name === "chat");
  expect(chat?.attributes).toContainEqual({ key: "error.type", value: { stringValue: "timeout" } });
  await upstream.stop();
  await collector.stop();
});
