interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number; doubleValue?: number };
}

export interface ReceivedSpan {
  name: string;
  traceId: string;
  traceState?: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Attribute[];
  events: { name: string; attributes: Attribute[] }[];
  links: { traceId: string; spanId: string }[];
}

interface Point {
  attributes: Attribute[];
  asDouble?: number;
  count?: number;
  sum?: number;
  bucketCounts?: number[];
  explicitBounds?: number[];
}

export interface ReceivedMetric {
  name: string;
  unit: string;
  sum?: { dataPoints: Point[]; isMonotonic: boolean };
  gauge?: { dataPoints: Point[] };
  histogram?: { dataPoints: Point[] };
}

/** The attributes of a span, a point or a resource. */
export function attributesOf({ attributes }: { attributes: Attribute[] }): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue]),
  );
}

/** The receiving half of an OTLP collector, over HTTP with JSON. */
export function startCollector() {
  const requests: { path: string; headers: Headers; body: Uint8Array }[] = [];
  let answer = (): Response | Promise<Response> => Response.json({});
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = await request.bytes();
      requests.push({ path: new URL(request.url).pathname, headers: request.headers, body });
      return await answer();
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  // biome-ignore lint/suspicious/noExplicitAny: the interfaces above are the parts that tests read
  const received = (path: string): any[] =>
    requests
      .filter((request) => request.path === path)
      .map(({ body }) => JSON.parse(new TextDecoder().decode(body)));
  return {
    url,
    requests,
    /** Settings that send traces and metrics here, or one of them. */
    environment: (only?: "traces" | "metrics"): Record<string, string> => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_TRACES_EXPORTER: only === "metrics" ? "none" : "otlp",
      OTEL_METRICS_EXPORTER: only === "traces" ? "none" : "otlp",
    }),
    answerWith(how: typeof answer) {
      answer = how;
    },
    texts: () => requests.map(({ path, body }) => `${path}\n${new TextDecoder().decode(body)}`),
    spans: (): ReceivedSpan[] =>
      received("/v1/traces").flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }: { scopeSpans: { spans: ReceivedSpan[] }[] }) =>
          scopeSpans.flatMap(({ spans }) => spans),
        ),
      ),
    /** The metrics of each export. */
    exports: (): { resource: Record<string, unknown>; metrics: ReceivedMetric[] }[] =>
      received("/v1/metrics").map(({ resourceMetrics: [first] }) => ({
        resource: attributesOf(first.resource),
        metrics: first.scopeMetrics.flatMap(({ metrics }: { metrics: ReceivedMetric[] }) => metrics),
      })),
    stop: () => server.stop(true),
  };
}
