import type { Registry } from "prom-client";
import type { TelemetryConfig } from "../../config/config-telemetry.ts";
import type { LogExport } from "./otlp-exporter.ts";
import type { ChatMetrics } from "./tracing.ts";

type MetricsTarget = NonNullable<TelemetryConfig["metrics"]>;

export interface MetricsExport {
  chats: ChatMetrics;
  /** Sends the last figures. */
  stop(): Promise<void>;
}

/**
 * Sends the metrics of `/metrics` as OTLP, and those of calls to models by the GenAI conventions. Loads OpenTelemetry's SDK, which takes
 * memory, only if metrics are exported.
 */
export async function exportMetrics(
  target: MetricsTarget,
  attributes: TelemetryConfig["attributes"],
  logExport: LogExport,
  registry: Pick<Registry, "getMetricsAsJSON">,
): Promise<MetricsExport> {
  const [sdk, resources, { metricExporter }, { toMetricData }, { createChatMetrics }] = await Promise.all([
    import("@opentelemetry/sdk-metrics"),
    import("@opentelemetry/resources"),
    import("./otlp-exporter.ts"),
    import("./to-metric-data.ts"),
    import("./chat-metrics.ts"),
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
