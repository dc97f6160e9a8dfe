import type { Registry } from "prom-client";
import type { LogExport, OtlpTarget, TelemetryOptions } from "./otlp.ts";
import {
  type ChatMetrics,
  type ChatParent,
  type EvaluatedSpan,
  type GivenTraceHeaders,
  readTraceHeaders,
  type TraceHeaders,
  type Tracing,
  type WriteTexts,
} from "./tracing.ts";

interface MetricsExport {
  chats: ChatMetrics;
  /** Sends the last figures and stops. */
  stop(): Promise<void>;
}

/**
 * Sends the metrics of `/metrics` as OTLP, and those of calls to models by the GenAI conventions. Loads OpenTelemetry's SDK, which takes
 * memory, only if metrics are exported.
 */
export async function exportMetrics(
  target: NonNullable<TelemetryOptions["metrics"]>,
  attributes: TelemetryOptions["attributes"],
  logExport: LogExport,
  registry: Pick<Registry, "getMetricsAsJSON">,
): Promise<MetricsExport> {
  const [sdk, resources, { metricExporter, toMetricData }, { createChatMetrics }] = await Promise.all([
    import("@opentelemetry/sdk-metrics"),
    import("@opentelemetry/resources"),
    import("./otlp.ts"),
    import("./recorder.ts"),
  ]);
  const resource = resources.resourceFromAttributes({ ...attributes });
  const reader = new sdk.PeriodicExportingMetricReader({
    exporter: metricExporter(target, logExport),
    exportIntervalMillis: target.intervalMs,
    exportTimeoutMillis: Math.min(target.timeoutMs, target.intervalMs),
    metricProducers: [
      {
        async collect() {
          const metrics = toMetricData(await registry.getMetricsAsJSON(), Date.now());
          const scopeMetrics = [{ scope: { name: "presage" }, metrics }];
          return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
        },
      },
    ],
  });
  const provider = new sdk.MeterProvider({ resource, readers: [reader] });
  return {
    chats: createChatMetrics(provider.getMeter("presage")),
    stop: () => provider.shutdown(),
  };
}

/** Loads OpenTelemetry's SDK, which takes memory, only if traces are exported. */
export async function exportTraces(
  target: OtlpTarget,
  attributes: TelemetryOptions["attributes"],
  logExport: LogExport,
  chats?: ChatMetrics,
  writeTexts?: WriteTexts,
): Promise<Tracing> {
  const [sdk, resources, { traceExporter }, { createOpenSpans, recordSpans }] = await Promise.all([
    import("@opentelemetry/sdk-trace-base"),
    import("@opentelemetry/resources"),
    import("./otlp.ts"),
    import("./recorder.ts"),
  ]);
  const openSpans = createOpenSpans();
  const provider = new sdk.BasicTracerProvider({
    resource: resources.resourceFromAttributes({ ...attributes }),
    spanProcessors: [openSpans, new sdk.BatchSpanProcessor(traceExporter(target, logExport))],
  });
  return {
    ...recordSpans(provider.getTracer("presage"), chats, writeTexts),
    async stop() {
      await openSpans.ended();
      await provider.shutdown();
    },
  };
}

/** Tracing without an exporter: valid trace headers of the caller go to the upstream unchanged. */
export function forwardTraces(chats?: ChatMetrics): Tracing {
  return {
    startRequest(_, headers) {
      const given = readTraceHeaders(headers);
      if (given.traceparent === undefined && chats === undefined) return undefined;
      return { ...measuredSpan(given, chats), end() {} };
    },
    startRun() {
      if (chats === undefined) return undefined;
      return { startStep: () => ({ ...measuredSpan({}, chats), endAfter() {} }), endAfter() {} };
    },
    async stop() {},
  };
}

/** A span that is not exported; calls to models below it are counted. */
function measuredSpan(given: GivenTraceHeaders, chats: ChatMetrics | undefined): EvaluatedSpan {
  const startChat: ChatParent["startChat"] = (request) => ({
    ...(chats?.start(request) ?? notMeasured),
    headers: given.traceparent === undefined ? {} : validTraceHeaders(given),
  });
  return { startChat, startEvaluation: () => ({ startChat, endAfter() {} }) };
}

const notMeasured = { end() {}, fail() {} };

/** Most clients send no trace headers, so the library, which takes megabytes, is loaded on first use. */
function validTraceHeaders({ traceparent = "", tracestate }: GivenTraceHeaders): TraceHeaders {
  const { parseTraceParent, TraceState }: typeof import("@opentelemetry/core") =
    require("@opentelemetry/core");
  if (parseTraceParent(traceparent) === null) return {};
  // Invalid members are left out.
  const state = new TraceState(tracestate).serialize();
  return state === "" ? { traceparent } : { traceparent, tracestate: state };
}
