import type { TelemetryConfig } from "../../config/config-telemetry.ts";
import { createOpenSpans } from "./open-spans.ts";
import type { LogExport } from "./otlp-exporter.ts";
import type { ChatMetrics, Tracing } from "./tracing.ts";

type TracesTarget = NonNullable<TelemetryConfig["traces"]>;

/** Loads OpenTelemetry's SDK, which takes memory, only if traces are exported. */
export async function exportTraces(
  target: TracesTarget,
  attributes: TelemetryConfig["attributes"],
  logExport: LogExport,
  chats?: ChatMetrics,
): Promise<Tracing> {
  const [sdk, resources, { traceExporter }, { recordSpans }] = await Promise.all([
    import("@opentelemetry/sdk-trace-base"),
    import("@opentelemetry/resources"),
    import("./otlp-exporter.ts"),
    import("./record-spans.ts"),
  ]);
  const openSpans = createOpenSpans();
  const provider = new sdk.BasicTracerProvider({
    resource: resources.resourceFromAttributes({ ...attributes }),
    spanProcessors: [openSpans, new sdk.BatchSpanProcessor(traceExporter(target, logExport))],
  });
  return {
    ...recordSpans(provider.getTracer("presage"), chats),
    async stop() {
      await openSpans.ended();
      await provider.shutdown();
    },
  };
}
