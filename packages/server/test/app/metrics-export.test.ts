import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startPresage, testKey } from "../support/presage/presage.ts";
import { spawnPresage } from "../support/presage/spawn-presage.ts";
import { attributesOf, type ReceivedMetric, startCollector } from "../support/telemetry/collector.ts";
import { completion, startUpstream, type TestUpstream } from "../support/upstream/upstream.ts";

const prediction = { interaction: { state: "the secret state", action: "the secret action" } };
const secret = "token-of-the-collector-0123456789";
const often = { OTEL_METRIC_EXPORT_INTERVAL: "100", OTEL_EXPORTER_OTLP_TIMEOUT: "300" };

function find(metrics: readonly ReceivedMetric[], name: string): ReceivedMetric | undefined {
  return metrics.find((metric) => metric.name === name);
}

describe("Metrics that are exported", () => {
  let upstream: TestUpstream;
  beforeAll(() => {
    upstream = startUpstream(() => Response.json(completion("the secret answer")));
  });
  afterAll(async () => {
    await upstream.stop();
  });

  test("are those of /metrics under their names, and calls to models by the GenAI conventions", async () => {
    const collector = startCollector();
    const presage = await startPresage({
      PRESAGE_UPSTREAM_URL: upstream.url,
      ...collector.environment("metrics"),
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secret}`,
      OTEL_SERVICE_NAME: "worlds",
    });
    for (let call = 0; call < 3; call++)
      expect((await presage.call("POST", "/v1/predict", prediction)).status).toBe(200);
    const shown = await (await presage.call("GET", "/metrics")).text();
    await presage.stop();
    await collector.stop();

    const { resource, metrics } = collector.exports().at(-1) ?? { resource: {}, metrics: [] };
    expect(resource).toMatchObject({
      "service.name": "worlds",
      "service.instance.id": expect.any(String),
      "service.version": expect.any(String),
    });
    for (const { headers } of collector.requests)
      expect(headers.get("authorization")).toBe(`Bearer ${secret}`);
    const names = [...shown.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    expect(metrics.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    const tokens = find(metrics, "presage_tokens_total")?.sum;
    expect(tokens?.isMonotonic).toBeTrue();
    expect(tokens?.dataPoints.map((point) => [attributesOf(point).kind, point.asDouble])).toEqual([
      ["prompt", 33],
      ["completion", 21],
    ]);
    expect(find(metrics, "presage_memory_budget_bytes")).toMatchObject({
      unit: "By",
      gauge: expect.anything(),
    });
    const [overhead] = find(metrics, "presage_overhead_seconds")?.histogram?.dataPoints ?? [];
    expect(overhead?.count).toBe(3);
    expect(overhead?.bucketCounts?.reduce((sum, count) => sum + count, 0)).toBe(3);
    expect(overhead?.bucketCounts?.length).toBe((overhead?.explicitBounds?.length ?? 0) + 1);

    const [duration] = find(metrics, "gen_ai.client.operation.duration")?.histogram?.dataPoints ?? [];
    const { port } = new URL(upstream.url);
    expect(duration?.count).toBe(3);
    expect(duration && attributesOf(duration)).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "test-model",
      "gen_ai.response.model": "test-model",
      // The address of any replica that an upstream may stand for.
      "server.address": expect.stringMatching(/^127\.0\.0\.[1-4]$/),
      "server.port": Number(port),
    });
    const used = find(metrics, "gen_ai.client.token.usage")?.histogram?.dataPoints ?? [];
    expect(used.map((point) => [attributesOf(point)["gen_ai.token.type"], point.sum])).toEqual([
      ["input", 33],
      ["output", 21],
    ]);
    expect(collector.texts().join()).not.toContain("the secret");
  });

  test("leave the caller's trace headers to the upstream as they are", async () => {
    const collector = startCollector();
    const presage = await startPresage({
      PRESAGE_UPSTREAM_URL: upstream.url,
      ...collector.environment("metrics"),
    });
    upstream.received.length = 0;
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (const headers of [{ "x-api-key": testKey, traceparent }, { "x-api-key": testKey }])
      expect((await presage.call("POST", "/v1/predict", prediction, headers)).status).toBe(200);
    await presage.stop();
    await collector.stop();
    expect(upstream.received.map(({ headers }) => headers.get("traceparent"))).toEqual([traceparent, null]);
    expect(collector.requests.every(({ path }) => path === "/v1/metrics")).toBeTrue();
  });

  test("are protobuf unless JSON is asked for, and compressed if asked for", async () => {
    const collector = startCollector();
    const presage = await startPresage({
      PRESAGE_UPSTREAM_URL: upstream.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_RESOURCE_ATTRIBUTES: "service.instance.id=pod-of-the-operator",
    });
    expect((await presage.call("POST", "/v1/predict", prediction)).status).toBe(200);
    await presage.stop();
    await collector.stop();
    const bodies = new Map(
      collector.requests.map(({ path, headers, body }) => {
        expect(headers.get("content-type")).toBe("application/x-protobuf");
        expect(headers.get("content-encoding")).toBe("gzip");
        return [path, Bun.gunzipSync(body as Uint8Array<ArrayBuffer>)];
      }),
    );
    // Field 1 of the message: resource metrics or spans, which contain texts unencoded.
    for (const [path, text] of [
      ["/v1/metrics", "presage_tokens_total"],
      ["/v1/traces", "chat test-model"],
    ] as const) {
      const body = bodies.get(path);
      expect(body?.[0]).toBe(0x0a);
      for (const part of [text, "pod-of-the-operator"])
        expect(Buffer.from(body ?? []).includes(part)).toBeTrue();
    }
  });
});

describe("A collector that", () => {
  const answers: [string, (() => Response | Promise<Response>) | undefined][] = [
    ["is away", undefined],
    ["answers 500", () => new Response("no", { status: 500 })],
    ["answers 503", () => new Response("no", { status: 503 })],
    ["does not answer", () => new Promise<Response>(() => {})],
  ];
  test.concurrent.each(answers)(
    "%s costs no request, and one line in the log for each of traces and metrics",
    async (_, answer) => {
      const collector = startCollector();
      if (answer !== undefined) collector.answerWith(answer);
      const environment = collector.environment();
      if (answer === undefined)
        environment.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${await freePort()}`;
      await using presage = await spawnPresage({
        ...environment,
        ...often,
        OTEL_BSP_SCHEDULE_DELAY: "100",
        OTEL_EXPORTER_OTLP_HEADERS: `authorization=${secret}`,
        PRESAGE_DATABASE_URL: "sqlite::memory:",
      });
      const complaints = async () => (await presage.stdout()).match(/could not send (traces|metrics)/g) ?? [];
      const statuses = new Set<number>();
      await eventually(
        async () => {
          statuses.add((await presage.call("POST", "/v1/predict", prediction)).status);
          return await complaints();
        },
        (lines) => lines.length === 2,
        30_000,
      );
      // Several more exports fail.
      const before = collector.requests.length;
      if (answer !== undefined)
        await eventually(
          () => collector.requests.length,
          (count) => count > before + 3,
          30_000,
        );
      presage.kill("SIGTERM");
      expect(await presage.exited).toBe(0);
      expect([...statuses]).toEqual([200]);
      expect((await complaints()).sort()).toEqual(["could not send metrics", "could not send traces"]);
      expect(await presage.stdout()).not.toContain(secret);
      await collector.stop();
    },
  );
});
