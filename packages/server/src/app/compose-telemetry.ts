import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config/config.ts";
import { exportMetrics, exportTraces, forwardTraces } from "../platform/observability/export.ts";
import { type Logger, watchOutage } from "../platform/observability/logger.ts";
import type { Metrics } from "../platform/observability/metrics.ts";
import type { LogExport } from "../platform/observability/otlp.ts";
import type { Tracing } from "../platform/observability/tracing.ts";

/** A server that stops has little time before it is killed. */
const maxStopMs = 10_000;

/** Spans and metrics, sent where there is an endpoint. An endpoint that is away costs a line in the log. */
export async function composeTelemetry(
  { telemetry: { attributes, traces, metrics }, workers }: Pick<Config, "telemetry" | "workers">,
  logger: Logger,
  { registry }: Pick<Metrics, "registry">,
  instanceId: string,
): Promise<Tracing> {
  const ofProcess = { ...attributes, [instanceName]: instanceOf(attributes, instanceId, workers.count) };
  const exported =
    metrics && (await exportMetrics(metrics, ofProcess, logEnds(logger, "metrics", metrics.url), registry));
  const tracing =
    traces === undefined
      ? forwardTraces(exported?.chats)
      : await exportTraces(traces, ofProcess, logEnds(logger, "traces", traces.url), exported?.chats);
  return {
    ...tracing,
    async stop() {
      const timeoutMs = Math.max(0, ...[traces, metrics].map((target) => target?.timeoutMs ?? 0));
      const waitMs = Math.min(timeoutMs, maxStopMs);
      const sent = Promise.all([tracing.stop(), exported?.stop()]);
      // The SDK waits for several exports, one after the other.
      await Promise.race([sent, sleep(waitMs, undefined, { ref: false })]);
    },
  };
}

const instanceName = "service.instance.id";

/** Processes count apart: an operator's name is enough for one. */
function instanceOf(
  { [instanceName]: given }: Config["telemetry"]["attributes"],
  instanceId: string,
  processes: number,
): string {
  return given !== undefined && processes === 1 ? given : `${given ?? instanceId}/${process.pid}`;
}

/** The error may name the address, which has no credentials; headers are in none. */
function logEnds(logger: Logger, signal: "traces" | "metrics", url: string): LogExport {
  const outage = watchOutage(logger, {
    begins: `could not send ${signal}; those in between are lost`,
    ends: `${signal} are sent again`,
    fields: { url },
  });
  return (error) => {
    if (error === undefined) outage.responded();
    else outage.failed("export", () => ({ reason: error.message }));
  };
}
