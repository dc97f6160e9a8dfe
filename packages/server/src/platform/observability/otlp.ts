import { type HrTime, ValueType } from "@opentelemetry/api";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
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

/** Where traces or metrics are sent, and how. */
export type OtlpTarget = Readonly<{
  url: string;
  headers: Readonly<Record<string, string>>;
  protocol: "http/protobuf" | "http/json";
  compression: "none" | "gzip";
  timeoutMs: number;
}>;

export type TelemetryOptions = Readonly<{
  /** The attributes of the service in everything that is sent. */
  attributes: Readonly<Record<string, string>>;
  /** Absent: traces are not sent. */
  traces: (OtlpTarget & Readonly<{ hasTexts: boolean }>) | undefined;
  metrics: (OtlpTarget & Readonly<{ intervalMs: number }>) | undefined;
}>;

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
    // Like Prometheus and the exported counters.
    selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
  };
}

/** The library's exporter, with every result reported. The only variables that it reads itself are those for certificates. */
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
    // The library names its compressions by an enum of the same strings.
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
        // The caller would only report the error again.
        done({ code: ExportResultCode.SUCCESS });
      });
    },
    forceFlush: () => delegate.forceFlush(),
    shutdown: () => delegate.shutdown(),
  };
}

/** Figures as `/metrics` shows them. */
type PrometheusMetric = MetricObjectWithValues<MetricValue<string>>;

/** The same figures in OTLP's form, under the same names. */
export function toMetricData(metrics: readonly PrometheusMetric[], nowMs: number): MetricData[] {
  const times = { startTime: hrTime(performance.timeOrigin), endTime: hrTime(nowMs) };
  return metrics.flatMap((metric): MetricData[] => {
    const { name, help: description } = metric;
    const descriptor = { name, description, unit: unitOf(name), valueType: ValueType.DOUBLE };
    const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
    const points = () =>
      metric.values.map(({ labels, value }) => ({ ...times, attributes: { ...labels }, value }));
    // prom-client's types declare numbers where its JSON has strings.
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

/** A series has a value for each bucket, which includes the buckets below it, and one each for its sum and its count. */
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
