import { Role } from "@presage/contract";
import { z } from "zod";
import { domains, httpUrl, issuerUrl, oneOf, onOff, text, wholeNumber } from "./values.ts";

const yearHours = 8_760;
const yearMinutes = 525_600;

/** Who may use Presage: the first key, sign-in, and sessions. */
export const identityVariables = {
  PRESAGE_BOOTSTRAP_KEY: z
    .string()
    .regex(/^[!-~]{32,512}$/)
    .optional()
    .meta({
      description: "an API key, at least 32 characters, that exists from the first start",
      expected: "32 to 512 visible ASCII characters",
    }),
  PRESAGE_OIDC_ISSUER: issuerUrl
    .optional()
    .describe("OpenID provider that users sign in with; if not set, the server is in local mode"),
  PRESAGE_OIDC_CLIENT_ID: text.optional().describe("client id of this server at the OpenID provider"),
  PRESAGE_OIDC_CLIENT_SECRET: text.optional().describe("client secret of this server at the OpenID provider"),
  PRESAGE_OIDC_ALLOWED_DOMAINS: domains
    .optional()
    .describe(
      "only users with a verified e-mail address in one of these domains may sign in; * allows every user of the provider",
    ),
  PRESAGE_OIDC_ACCOUNT_CLAIM: text
    .optional()
    .describe(
      "claim that names a user's account; if not set, every user is in the owner's account, named default",
    ),
  PRESAGE_NEW_USER_ROLE: oneOf(Role.options)
    .default("member")
    .describe(
      "role of a user who signs in for the first time; the first user of an account is always an owner",
    ),
  PRESAGE_SESSION_IDLE_MINUTES: wholeNumber(1, yearMinutes, "minutes")
    .default(720)
    .describe("idle session lifetime in minutes"),
  PRESAGE_SESSION_MAX_HOURS: wholeNumber(1, yearHours, "hours")
    .default(168)
    .describe("absolute session lifetime in hours"),
} as const;

/** Variables whose values are never printed. */
export const secretIdentityNames = ["PRESAGE_BOOTSTRAP_KEY", "PRESAGE_OIDC_CLIENT_SECRET"] as const;

/** Sign-in with an OpenID provider needs all three. */
export const oidcNames = [
  "PRESAGE_OIDC_ISSUER",
  "PRESAGE_OIDC_CLIENT_ID",
  "PRESAGE_OIDC_CLIENT_SECRET",
] as const;

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

/** A list of pairs, as the W3C's baggage is written. */
const pairs = z
  .string()
  .transform((list, context) => {
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
  })
  .meta({ expected: "NAME=VALUE pairs with commas between them, with % escapes where needed" });

/** Names are those of HTTP, and a value may not end the line. */
const headers = pairs.refine((list) =>
  Object.entries(list).every(
    ([name, value]) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && !/[\r\n\0]/.test(value),
  ),
);

const url = httpUrl.optional();
const headerList = headers.optional();
const protocol = z
  .enum(protocols)
  .optional()
  .meta({ expected: `${protocols.join(", ")}; gRPC is not supported` });
const exporter = oneOf(exporters).default("otlp");

/** OpenTelemetry's own variables, by the names and with the meanings of its specification, and one of Presage's. */
export const telemetryVariables = {
  PRESAGE_OTEL_CONTENT: oneOf(["off", "spans"])
    .default("off")
    .describe(
      "whether traces have what models are told and answer, without secrets; spans sends it to the collector, which no account's retention and deletion reach",
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: url.describe(
    "OpenTelemetry collector for traces (/v1/traces) and metrics (/v1/metrics); if not set, none are sent",
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url.describe("full URL for traces; if not set, below the endpoint"),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: url.describe("full URL for metrics; if not set, below the endpoint"),
  OTEL_EXPORTER_OTLP_HEADERS: headerList.describe(
    "headers for the collector, for example authorization=Bearer%20TOKEN",
  ),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headerList.describe(
    "headers for traces, in place of those with the same name",
  ),
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: headerList.describe(
    "headers for metrics, in place of those with the same name",
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol.describe("encoding; if not set, http/protobuf"),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocol.describe("encoding of traces; if not set, that of both"),
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: protocol.describe("encoding of metrics; if not set, that of both"),
  OTEL_EXPORTER_OTLP_COMPRESSION: oneOf(compressions).default("none").describe("compression of what is sent"),
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(1, dayMs, "milliseconds")
    .default(10_000)
    .describe("how long sending may take in milliseconds, including retries"),
  OTEL_METRIC_EXPORT_INTERVAL: wholeNumber(1, dayMs, "milliseconds")
    .default(60_000)
    .describe("pause between two exports of metrics in milliseconds"),
  OTEL_TRACES_EXPORTER: exporter.describe("whether traces are sent"),
  OTEL_METRICS_EXPORTER: exporter.describe("whether metrics are sent; /metrics is there in any case"),
  OTEL_SDK_DISABLED: onOff
    .default(false)
    .describe("whether neither traces nor metrics are sent, whatever else is set"),
  // The SDK reads both itself, and would take every trace if they were wrong.
  OTEL_TRACES_SAMPLER: oneOf(samplers)
    .optional()
    .describe("which traces are recorded; if not set, those of callers who record them and all others"),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?|\.\d+)$/)
    .transform(Number)
    .optional()
    .meta({
      description: "the share of traces that the samplers traceidratio and parentbased_traceidratio take",
      expected: "a number from 0 to 1",
    }),
  OTEL_SERVICE_NAME: text
    .optional()
    .describe("name of the service in traces and metrics; if not set, presage"),
  OTEL_RESOURCE_ATTRIBUTES: pairs.optional().describe("attributes of all traces and metrics"),
} as const;

/** Variables whose values are never printed. */
export const secretTelemetryNames = [
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
] as const;
