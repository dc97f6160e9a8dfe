import { expect, test } from "bun:test";
import { startPresage } from "../support/presage/presage.ts";
import { completion, startUpstream } from "../support/upstream/upstream.ts";

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}
interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Attribute[];
}
interface Export {
  resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
}

/** The receiving half of an OTLP collector. */
function startCollector() {
  const texts: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      texts.push(`${new URL(request.url).pathname}\n${await request.text()}`);
      return Response.json({});
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, texts, stop: () => server.stop(true) };
}

function spansOf(texts: string[]): Span[] {
  const exports = texts.map((text) => JSON.parse(text.slice(text.indexOf("\n"))) as Export);
  return exports.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
}

test("a prediction creates a request span and a GenAI span in the caller's trace, without prompt text", async () => {
  const collector = startCollector();
  const upstream = startUpstream(() => Response.json(completion("the secret answer")));
  const presage = await startPresage({
    PRESAGE_UPSTREAM_URL: upstream.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const headers = {
    "x-api-key": "bootstrap-key-of-the-tests-0123456789",
    traceparent: `00-${traceId}-b7ad6b7169203331-01`,
  };
  const body = { interaction: { state: "the secret state", action: "the secret action" } };
  expect((await presage.call("POST", "/v1/predict", body, headers)).status).toBe(200);
  upstream.answer = () => new Response("busy", { status: 429 });
  expect((await presage.call("POST", "/v1/predict", body, headers)).status).toBe(429);
  await presage.stop();

  expect(collector.texts.every((text) => text.startsWith("/v1/traces\n"))).toBeTrue();
  expect(collector.texts.join()).not.toContain("secret");
  const spans = spansOf(collector.texts);
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
