import { z } from "zod";
import { expectedUrl, httpUrl, onOff, text, wholeNumber } from "./environment-values.ts";

const protocols = ["http/protobuf", "http/json"] as const;
const compressions = ["none", "gzip"] as const;
const exporters = ["otlp", "none"] as const;
const samplers = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;
const dayMs = 86_400_000;
const expectedPairs = "NAME=VALUE pairs with commas between them, with % escapes where needed";

/** A list of pairs, as the W3C's baggage is written. */
const pairs = z.string().transform((list, context) => {
  const found: Record<string, string> = {};
  for (const pair of list.split(",").filter((part) => part.trim() !== "")) {
    const [, name, value = ""] = /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    try {
      if (name === undefined) throw new URIError("There is no name");
      found[decodeURIComponent(name)] = decodeURIComponent(value);
    } catch {
      context.addIssue("It is not a list of pairs");
      return z.NEVER;
    }
  }
  return found;
});

/** Names are those of HTTP, and a value may not end the line. */
const headers = pairs.refine((list) =>
  Object.entries(list).every(
    ([name, value]) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && !/[\r\n\0]/.test(value),
  ),
);

const url = (what: string) => httpUrl.optional().meta({ description: what, expected: expectedUrl });
const headerList = (what: string) => headers.optional().meta({ description: what, expected: expectedPairs });
const protocol = (what: string) =>
  z
    .enum(protocols)
    .optional()
    .meta({ description: what, expected: `${protocols.join(", ")}; gRPC is not supported` });
const exporter = (what: string) =>
  z
    .enum(exporters)
    .default("otlp")
    .meta({ description: what, expected: exporters.join(", ") });

/** OpenTelemetry's own variables, by the names and with the meanings of its specification. */
export const telemetryVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url(
    "OpenTelemetry collector for traces (/v1/traces) and metrics (/v1/metrics); if not set, none are sent",
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url("full URL for traces; if not set, below the endpoint"),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url("full URL for metrics; if not set, below the endpoint"),
  OTEL_EXPORTER_OTLP_HEADERS: headerList(
    "headers for the collector, for example authorization=Bearer%20TOKEN",
  ),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headerList("headers for traces, in place of those with the same name"),
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: headerList("headers for metrics, in place of those with the same name"),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol("encoding; if not set, http/protobuf"),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol("encoding of traces; if not set, that of both"),
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol("encoding of metrics; if not set, that of both"),
  OTEL_EXPORTER_OTLP_COMPRESSION: z
    .enum(compressions)
    .default("none")
    .meta({ description: "compression of what is sent", expected: compressions.join(", ") }),
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(1, dayMs)
    .default(10_000)
    .meta({
      description: "how long sending may take in milliseconds, including retries",
      expected: `a whole number of milliseconds from 1 to ${dayMs}`,
    }),
  OTEL_METRIC_EXPORT_INTERVAL: wholeNumber(1, dayMs)
    .default(60_000)
    .meta({
      description: "pause between two exports of metrics in milliseconds",
      expected: `a whole number of milliseconds from 1 to ${dayMs}`,
    }),
  OTEL_TRACES_EXPORTER: exporter("whether traces are sent"),
  OTEL_METRICS_EXPORTER: exporter("whether metrics are sent; /metrics is there in any case"),
  OTEL_SDK_DISABLED: onOff.default(false).meta({
    description: "whether neither traces nor metrics are sent, whatever else is set",
    expected: "true or false",
  }),
  // The SDK reads both itself, and would take every trace if they were wrong.
  OTEL_TRACES_SAMPLER: z
    .enum(samplers)
    .optional()
    .meta({
      description: "which traces are recorded; if not set, those of callers who record them and all others",
      expected: samplers.join(", "),
    }),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?|\.\d+)$/)
    .transform(Number)
    .optional()
    .meta({
      description: "the share of traces that the samplers traceidratio and parentbased_traceidratio take",
      expected: "a number from 0 to 1",
    }),
  OTEL_SERVICE_NAME: text.optional().meta({
    description: "name of the service in traces and metrics; if not set, presage",
    expected: "text",
  }),
  OTEL_RESOURCE_ATTRIBUTES: pairs
    .optional()
    .meta({ description: "attributes of all traces and metrics", expected: expectedPairs }),
} as const;

/** Variables whose values are never printed. */
export const secretTelemetryNames = [
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
] as const;
