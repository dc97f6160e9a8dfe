import packageJson from "../../package.json" with { type: "json" };
import type { Environment } from "./environment.ts";

type Signal = "traces" | "metrics";

/** Where traces or metrics are sent, and how. */
export type OtlpTarget = Readonly<{
  url: string;
  headers: Readonly<Record<string, string>>;
  protocol: "http/protobuf" | "http/json";
  compression: "none" | "gzip";
  timeoutMs: number;
}>;

export type TelemetryConfig = Readonly<{
  /** Of the service in everything that is sent. */
  attributes: Readonly<Record<string, string>>;
  /** Absent: they are not sent. */
  traces: OtlpTarget | undefined;
  metrics: (OtlpTarget & Readonly<{ intervalMs: number }>) | undefined;
}>;

/** OpenTelemetry's variables: those of one signal come before those of both. */
export function telemetryOf(values: Environment): TelemetryConfig {
  const metrics = targetOf(values, "metrics");
  return {
    attributes: {
      "service.name": "presage",
      "service.version": packageJson.version,
      ...values.OTEL_RESOURCE_ATTRIBUTES,
      ...(values.OTEL_SERVICE_NAME === undefined ? {} : { "service.name": values.OTEL_SERVICE_NAME }),
    },
    traces: targetOf(values, "traces"),
    metrics: metrics && { ...metrics, intervalMs: values.OTEL_METRIC_EXPORT_INTERVAL },
  };
}

function targetOf(values: Environment, signal: Signal): OtlpTarget | undefined {
  const ofTraces = signal === "traces";
  const exporter = ofTraces ? values.OTEL_TRACES_EXPORTER : values.OTEL_METRICS_EXPORTER;
  const own = ofTraces
    ? {
        url: values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
        headers: values.OTEL_EXPORTER_OTLP_TRACES_HEADERS,
        protocol: values.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL,
      }
    : {
        url: values.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
        headers: values.OTEL_EXPORTER_OTLP_METRICS_HEADERS,
        protocol: values.OTEL_EXPORTER_OTLP_METRICS_PROTOCOL,
      };
  const base = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = own.url ?? (base === undefined ? undefined : `${base}/v1/${signal}`);
  if (url === undefined || exporter === "none" || values.OTEL_SDK_DISABLED) return undefined;
  return {
    url,
    headers: { ...values.OTEL_EXPORTER_OTLP_HEADERS, ...own.headers },
    protocol: own.protocol ?? values.OTEL_EXPORTER_OTLP_PROTOCOL ?? "http/protobuf",
    compression: values.OTEL_EXPORTER_OTLP_COMPRESSION,
    timeoutMs: values.OTEL_EXPORTER_OTLP_TIMEOUT,
  };
}
