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
import { AggregationTemporality, type PushMetricExporter } from "@opentelemetry/sdk-metrics";
import type { SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { OtlpTarget } from "../../config/config-telemetry.ts";

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
