import {
  defaultTextMapGetter,
  type HrTime,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  ValueType,
} from "@opentelemetry/api";
import { type ExportResult, ExportResultCode, W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from "@opentelemetry/otlp-exporter-base/node-http";
import {
  type IExporterMetricsHelper,
  type ISerializer,
  JsonMetricsSerializer,
  JsonTraceSerializer,
  MetricsExporterMetricsHelper,
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from "@opentelemetry/otlp-transformer";
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type PushMetricExporter,
} from "@opentelemetry/sdk-metrics";
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { MetricObjectWithValues, MetricValue } from "prom-client";
import type { OtlpTarget } from "../../config/config.ts";
import { readTraceHeaders } from "./export.ts";
import {
  type ChatMetrics,
  endSpanAfter,
  evaluatedSpan,
  type Recorder,
  type RequestSpan,
  type RunSpan,
  type StepSpan,
  type Tracing,
} from "./tracing.ts";

/** How an export ended: with an error, or without. */
export type LogExport = (error: Error | undefined) => void;

const contentTypes = { "http/json": "application/json", "http/protobuf": "application/x-protobuf" };

export function traceExporter(target: OtlpTarget, logExport: LogExport): SpanExporter {
  const serializer = target.protocol === "http/json" ? JsonTraceSerializer : ProtobufTraceSerializer;
  return createExporter(target, logExport, {
    serializer,
    signal: "TRACES",
    countItems: TraceExporterMetricsHelper,
  });
}

export function metricExporter(target: OtlpTarget, logExport: LogExport): PushMetricExporter {
  const serializer = target.protocol === "http/json" ? JsonMetricsSerializer : ProtobufMetricsSerializer;
  return {
    ...createExporter(target, logExport, {
      serializer,
      signal: "METRICS",
      countItems: MetricsExporterMetricsHelper,
    }),
    // As Prometheus counts, and as the counters that are exported do.
    selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
  };
}

/** The library's exporter, whose every result is reported. What it reads itself are the variables of certificates. */
function createExporter<Items, Response>(
  { url, headers, protocol, compression, timeoutMs }: OtlpTarget,
  logExport: LogExport,
  {
    serializer,
    signal,
    countItems,
  }: {
    serializer: ISerializer<Items, Response>;
    signal: "TRACES" | "METRICS";
    countItems: IExporterMetricsHelper<Items>;
  },
) {
  const options = convertLegacyHttpOptions(
    // The library names its compressions by an enum of the same texts.
    { url, headers, timeoutMillis: timeoutMs, compression: compression as never },
    signal,
    "",
    { "Content-Type": contentTypes[protocol] },
  );
  const delegate = createOtlpHttpExportDelegate(options, serializer, "presage", countItems, undefined);
  return {
    export(items: Items, done: (result: ExportResult) => void): void {
      delegate.export(items, (result) => {
        logExport(
          result.code === ExportResultCode.SUCCESS ? undefined : (result.error ?? new Error("failed")),
        );
        // Whoever asked would only say it again.
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    forceFlush: () => delegate.forceFlush(),
    shutdown: () => delegate.shutdown(),
  };
}

/** Spans of requests and runs, and of what is done for them. */
export function recordSpans(
  tracer: Tracer,
  chats: ChatMetrics | undefined,
): Pick<Tracing, "startRequest" | "startRun"> {
  const recorder: Recorder = { tracer, propagator: new W3CTraceContextPropagator(), chats };
  return {
    startRequest: (method, headers) => startRequest(recorder, method, headers),
    startRun: (run) => startRun(recorder, run),
  };
}

function startRequest(recorder: Recorder, method: string, headers: Headers): RequestSpan {
  const parent = recorder.propagator.extract(ROOT_CONTEXT, readTraceHeaders(headers), defaultTextMapGetter);
  const attributes = { "http.request.method": method };
  const span = recorder.tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  return {
    ...evaluatedSpan(recorder, span, parent),
    end(route, status) {
      span.updateName(`${method} ${route}`);
      span.setAttributes({ "http.route": route, "http.response.status_code": status });
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function startRun(recorder: Recorder, { id, name, datasetId }: Parameters<Tracing["startRun"]>[0]): RunSpan {
  const attributes = {
    "gen_ai.operation.name": "invoke_workflow",
    "gen_ai.workflow.name": name,
    "presage.run.id": id,
    "presage.dataset.id": datasetId,
  };
  const { tracer } = recorder;
  const run = tracer.startSpan("invoke_workflow", { kind: SpanKind.INTERNAL, attributes }, ROOT_CONTEXT);
  const links = [{ context: run.spanContext() }];

  function startStep({ sampleId, repeat }: Parameters<RunSpan["startStep"]>[0]): StepSpan {
    const attributes = { "presage.run.id": id, "presage.sample.id": sampleId, "presage.repeat": repeat };
    const step = tracer.startSpan("run step", { kind: SpanKind.INTERNAL, attributes, links }, ROOT_CONTEXT);
    return {
      ...evaluatedSpan(recorder, step, ROOT_CONTEXT),
      endAfter: (work) => endSpanAfter(step, work),
    };
  }

  return { endAfter: (work) => endSpanAfter(run, work), startStep };
}

/** Figures as `/metrics` shows them. */
export type PrometheusMetric = MetricObjectWithValues<MetricValue<string>>;

/** The same figures as OTLP has them, under the same names. */
export function toMetricData(metrics: readonly PrometheusMetric[], nowMs: number): MetricData[] {
  const times = { startTime: hrTime(performance.timeOrigin), endTime: hrTime(nowMs) };
  return metrics.flatMap((metric): MetricData[] => {
    const { name, help: description } = metric;
    const descriptor = { name, description, unit: unitOf(name), valueType: ValueType.DOUBLE };
    const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
    const points = () =>
      metric.values.map(({ labels, value }) => ({ ...times, attributes: { ...labels }, value }));
    // prom-client's types have numbers for what its JSON names by texts.
    switch (String(metric.type)) {
      case "counter":
        return [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }];
      case "gauge":
        return [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() }];
      case "histogram":
        return [
          {
            ...common,
            dataPointType: DataPointType.HISTOGRAM,
            dataPoints: histogramsOf(metric).map((point) => ({ ...times, ...point })),
          },
        ];
      default:
        return [];
    }
  });
}

/** A series has a value for each bucket, which counts those below as well, and one each for its sum and its count. */
function histogramsOf({ name, values }: PrometheusMetric) {
  const series = Map.groupBy(values, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels));
  return [...series.values()].map((ofSeries) => {
    const { le: _, ...attributes } = ofSeries[0]?.labels ?? {};
    const buckets = ofSeries.filter(({ labels }) => labels.le !== undefined);
    const isPart = (part: string) => (value: object) =>
      "metricName" in value && value.metricName === name + part;
    return {
      attributes,
      value: {
        buckets: {
          boundaries: buckets.map(({ labels }) => Number(labels.le)).filter(Number.isFinite),
          counts: buckets.map(({ value }, index) => value - (buckets[index - 1]?.value ?? 0)),
        },
        sum: ofSeries.find(isPart("_sum"))?.value ?? 0,
        count: ofSeries.find(isPart("_count"))?.value ?? 0,
      },
    };
  });
}

function unitOf(name: string): string {
  const [, unit] = /_(seconds|bytes)(?:_total)?$/.exec(name) ?? [];
  if (unit === undefined) return "";
  return unit === "seconds" ? "s" : "By";
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)];
}
