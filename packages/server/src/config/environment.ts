import { availableParallelism } from "node:os";
import { capturePattern, Role } from "@presage/contract";
import { z } from "zod";
import {
  apiKey,
  domains,
  httpUrl,
  httpUrls,
  issuerUrl,
  listenHost,
  oneOf,
  onOff,
  originUrl,
  redisUrl,
  retentionDays,
  text,
  unlimited,
  wholeNumber,
} from "./values.ts";

const upstreamClients = ["fetch", "sockets"] as const;
const chatCompatibilities = ["strict", "openai"] as const;
export const cachePolicies = ["off", "deterministic", "seeded"] as const;
const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
const otlpProtocols = ["http/protobuf", "http/json"] as const;
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

const maxWorkers = 256;
const dayMs = 86_400_000;
const centuryDays = 36_500;
const yearSeconds = 31_536_000;
const yearHours = 8_760;
const yearMinutes = 525_600;
const mebibyte = 1_048_576;
const gibibyte = 1_073_741_824;
const tebibyte = 1024 * gibibyte;
const requestsPerMinute = wholeNumber(0, unlimited).meta({ expected: "a whole number, 0 for no limit" });

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

/** Names must be valid in HTTP, and values must not contain line breaks. */
const headerList = pairs
  .refine((list) =>
    Object.entries(list).every(
      ([name, value]) => /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && !/[\r\n\0]/.test(value),
    ),
  )
  .optional();

const collectorUrl = httpUrl.optional();

const otlpProtocol = z
  .enum(otlpProtocols)
  .optional()
  .meta({ expected: `${otlpProtocols.join(", ")}; gRPC is not supported` });

const exporter = oneOf(exporters).default("otlp");

/** Who may use Presage: the first key, sign-in, and sessions. */
const identityVariables = {
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

/** OpenTelemetry's own variables, by the names and with the meanings of its specification, and one of Presage's. */
const telemetryVariables = {
  PRESAGE_OTEL_CONTENT: oneOf(["off", "spans"])
    .default("off")
    .describe(
      "whether traces contain prompts and answers, without secrets; spans sends them to the collector, which no account's retention and deletion reach",
    ),
  OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl.describe(
    "OpenTelemetry collector for traces (/v1/traces) and metrics (/v1/metrics); if not set, none are sent",
  ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collectorUrl.describe(
    "full URL for traces; if not set, below the endpoint",
  ),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: collectorUrl.describe(
    "full URL for metrics; if not set, below the endpoint",
  ),
  OTEL_EXPORTER_OTLP_HEADERS: headerList.describe(
    "headers for the collector, for example authorization=Bearer%20TOKEN",
  ),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: headerList.describe(
    "headers for traces, in place of those with the same name",
  ),
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: headerList.describe(
    "headers for metrics, in place of those with the same name",
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol.describe("encoding; if not set, http/protobuf"),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol.describe("encoding of traces; if not set, that of both"),
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: otlpProtocol.describe("encoding of metrics; if not set, that of both"),
  OTEL_EXPORTER_OTLP_COMPRESSION: oneOf(compressions).default("none").describe("compression of what is sent"),
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(1, dayMs, "milliseconds")
    .default(10_000)
    .describe("how long sending may take in milliseconds, including retries"),
  OTEL_METRIC_EXPORT_INTERVAL: wholeNumber(1, dayMs, "milliseconds")
    .default(60_000)
    .describe("pause between two exports of metrics in milliseconds"),
  OTEL_TRACES_EXPORTER: exporter.describe("whether traces are sent"),
  OTEL_METRICS_EXPORTER: exporter.describe("whether metrics are sent; /metrics is there in any case"),
  OTEL_SDK_DISABLED: onOff.default(false).describe("true turns off traces and metrics, whatever else is set"),
  // The SDK reads both itself, and would record every trace if they were invalid.
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

/** Every environment variable that Presage reads; the source of `--help`, `presage config` and validation. */
export const environment = z.object({
  PRESAGE_HOST: listenHost.default("127.0.0.1").describe("address to listen on"),
  PRESAGE_PORT: wholeNumber(0, 65_535)
    .default(8080)
    .describe("port to listen on; 0 picks a free one and logs it"),
  PRESAGE_WORKERS: z
    .union([z.literal("auto").transform(() => availableParallelism()), wholeNumber(1, maxWorkers)])
    .default(1)
    .meta({
      description:
        "number of processes that share the port, or auto for one per processor; more than 1 needs PostgreSQL and Linux",
      expected: `a whole number from 1 to ${maxWorkers}, or auto`,
    }),
  PRESAGE_DATABASE_URL: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/)
    .default("sqlite:data/presage.db")
    .meta({
      description: "database for all data",
      expected: "sqlite:PATH, sqlite::memory: or postgres://…",
    }),
  PRESAGE_REDIS_URL: redisUrl
    .optional()
    .describe(
      "Valkey or Redis that all processes share; if not set, each process works by itself, and while it is gone, each allows its share of the rates",
    ),
  PRESAGE_UPSTREAM_URL: httpUrls
    .optional()
    .describe(
      "base URL of the chat-completions deployment, including /v1, or of each of its replicas, with commas between them; if not set, the built-in sandbox answers",
    ),
  PRESAGE_DEPLOYMENTS: text.optional().meta({
    description:
      "YAML file of deployments, for more than one model; with it PRESAGE_UPSTREAM_URL, _API_KEY and _MODEL must not be set",
    expected: "a path",
  }),
  PRESAGE_PRICES: text.optional().meta({
    description:
      "YAML file of what the tokens of each model cost; with it GET /v1/usage and the dashboard show costs",
    expected: "a path",
  }),
  PRESAGE_REAL_ENVIRONMENTS: text.optional().meta({
    description: "YAML file of the real environments that episodes are checked against",
    expected: "a path",
  }),
  PRESAGE_UPSTREAM_API_KEY: apiKey.optional().describe("sent to the upstream as a bearer token"),
  PRESAGE_UPSTREAM_MODEL: text
    .optional()
    .describe("name of the served model; if not set, the upstream's first model"),
  PRESAGE_UPSTREAM_TIMEOUT_MS: wholeNumber(1, dayMs, "milliseconds")
    .default(120_000)
    .describe("deadline of a prediction in milliseconds, including retries"),
  PRESAGE_UPSTREAM_RETRIES: wholeNumber(0, 20)
    .default(2)
    .describe("retries after a refused or reset connection or a 503"),
  PRESAGE_CACHE: oneOf(cachePolicies)
    .default("off")
    .describe(
      "which predictions are cached and, while in flight, shared: none, those with temperature 0 (deterministic), or also those with a seed (seeded)",
    ),
  PRESAGE_CACHE_MAX_BYTES: wholeNumber(1, unlimited, "bytes")
    .default(268_435_456)
    .describe(
      "memory in bytes for cached predictions and for the digests of their request bodies; the least recently used are evicted first",
    ),
  PRESAGE_CACHE_MAX_AGE_S: wholeNumber(1, yearSeconds, "seconds")
    .default(86_400)
    .describe("how long a prediction stays cached, in seconds"),
  PRESAGE_CACHE_EPOCH: text
    .optional()
    .describe("any text; changing it empties the cache, as is needed after new weights under an old name"),
  PRESAGE_CAPTURE: text.regex(capturePattern).default("off").meta({
    description:
      "which predictions of clients are stored with their texts: none, those that failed, all, or a share from 0 to 1; a key's own setting wins",
    expected: "off, failures, all, or a share from 0 to 1 such as 0.01",
  }),
  PRESAGE_CAPTURE_MAX_AGE_DAYS: wholeNumber(1, centuryDays, "days")
    .default(30)
    .describe("after how many days stored predictions of clients are deleted"),
  PRESAGE_RETENTION: retentionDays(centuryDays)
    .optional()
    .describe(
      "after how many days evaluation results, predictions of clients, episodes, usage and audit events are deleted; what is not named is kept, except predictions (PRESAGE_CAPTURE_MAX_AGE_DAYS)",
    ),
  PRESAGE_UPSTREAM_KEEP_ALIVE: onOff.default(true).describe("whether connections to the upstream are reused"),
  PRESAGE_UPSTREAM_CLIENT: oneOf(upstreamClients)
    .default("sockets")
    .describe(
      "what requests to upstreams of plain http without a proxy go over: connections that Presage keeps itself (sockets), or the runtime's own client (fetch), which takes more processor time",
    ),
  PRESAGE_CHAT_COMPATIBILITY: oneOf(chatCompatibilities)
    .default("strict")
    .describe(
      "what /v1/chat/completions accepts: `strict` text messages only, answered as a whole; `openai` also whatever else OpenAI's clients send: streaming, messages of tools, content in parts, nulls",
    ),
  PRESAGE_DEBUG_FIELDS: onOff
    .default(false)
    .describe("whether responses of /v1/predict include the composed prompt"),
  PRESAGE_RATE_LIMIT_RPM: requestsPerMinute
    .default(0)
    .describe("prediction requests per minute for each API key; 0 for no limit"),
  PRESAGE_RATE_LIMIT_USER_RPM: requestsPerMinute
    .optional()
    .describe(
      "prediction requests per minute for all API keys and sessions of a user together; 0 for no limit; if not set, 10 times PRESAGE_RATE_LIMIT_RPM",
    ),
  PRESAGE_RATE_LIMIT_ACCOUNT_RPM: requestsPerMinute
    .optional()
    .describe(
      "prediction requests per minute for all users of an account together; 0 for no limit; if not set, 50 times PRESAGE_RATE_LIMIT_RPM",
    ),
  PRESAGE_MAX_IN_FLIGHT: wholeNumber(1, unlimited)
    .default(10_000)
    .describe("maximum concurrent predictions; beyond it, 503"),
  PRESAGE_EVALUATIONS_MAX_IN_FLIGHT: wholeNumber(1, unlimited)
    .default(10_000)
    .describe("maximum concurrent evaluation requests; beyond it, 503"),
  PRESAGE_EVALUATE_ACCOUNT_IN_FLIGHT: wholeNumber(1, unlimited)
    .optional()
    .describe(
      "maximum concurrent evaluation requests of an account; beyond it, 429; if not set, PRESAGE_EVALUATIONS_MAX_IN_FLIGHT",
    ),
  PRESAGE_EVALUATE_RPM: requestsPerMinute
    .default(0)
    .describe("evaluation requests per minute for all users of an account together; 0 for no limit"),
  PRESAGE_MAX_BODY_BYTES: wholeNumber(1, gibibyte, "bytes")
    .default(16_777_216)
    .describe("maximum body size in bytes of predictions, evaluations and imports; beyond it, 413"),
  PRESAGE_MAX_DATASET_BYTES: wholeNumber(1, tebibyte, "bytes")
    .default(gibibyte)
    .describe("maximum size in bytes of one upload to a dataset, decompressed; beyond it, 413"),
  PRESAGE_DATASET_QUOTA_BYTES: wholeNumber(1, unlimited, "bytes")
    .default(64 * gibibyte)
    .describe("maximum size in bytes of all datasets of an account, as they are exported; beyond it, 413"),
  PRESAGE_INDEX_MAX_BYTES: wholeNumber(1, unlimited, "bytes")
    .optional()
    .describe(
      "memory in bytes that each process keeps for the searchable examples of worlds: by default its part of a quarter of the machine's or the container's, at most 2 GiB; those that were used least recently give way, and a world whose examples alone are larger is refused",
    ),
  PRESAGE_MIN_FREE_DISK_BYTES: wholeNumber(0, unlimited).default(gibibyte).meta({
    description:
      "bytes that uploads and runs leave free on the disk of an SQLite database; below it, uploads get 507 and runs wait",
    expected: "a whole number of bytes, 0 for none",
  }),
  PRESAGE_RUNS_MAX_IN_FLIGHT: wholeNumber(1, unlimited)
    .optional()
    .describe(
      "maximum concurrent predictions of all runs; further ones wait; if not set, a tenth of PRESAGE_MAX_IN_FLIGHT",
    ),
  PRESAGE_MEMORY_BUDGET_BYTES: wholeNumber(mebibyte, unlimited, "bytes")
    .optional()
    .describe(
      "memory in bytes for request bodies, responses and results that wait to be written; beyond it, 503; if not set, a quarter of the memory of the machine or container",
    ),
  ...identityVariables,
  PRESAGE_PUBLIC_URL: originUrl
    .optional()
    .describe("URL that browsers use; if not set, derived from host and port"),
  PRESAGE_JUDGE_URL: httpUrl
    .optional()
    .describe("base URL of the model behind judge evaluators; if not set, the upstream"),
  PRESAGE_JUDGE_API_KEY: apiKey.optional().describe("sent to the judge's model as a bearer token"),
  PRESAGE_JUDGE_MODEL: text.optional().describe("model name for judge evaluators"),
  PRESAGE_JUDGE_MAX_IN_FLIGHT: wholeNumber(1, unlimited)
    .optional()
    .describe(
      "maximum concurrent calls to the judge's model; further ones wait; if not set, 256 or PRESAGE_MAX_IN_FLIGHT, whichever is less",
    ),
  PRESAGE_METRICS_TOKEN: z
    .string()
    .regex(/^[!-~]{16,512}$/)
    .optional()
    .meta({
      description: "bearer token that /metrics requires; if not set, only this machine may read the metrics",
      expected: "16 to 512 visible ASCII characters",
    }),
  PRESAGE_LOG_LEVEL: oneOf(logLevels).default("info").describe("minimum level of logged messages"),
  PRESAGE_API_KEY: text.optional().describe("API key for the commands that have --server"),
  ...telemetryVariables,
});

export type Environment = z.output<typeof environment>;
export type EnvironmentName = keyof Environment;

/** Variables whose values are never printed. */
export const secretNames: ReadonlySet<string> = new Set<EnvironmentName>([
  "PRESAGE_DATABASE_URL",
  "PRESAGE_REDIS_URL",
  "PRESAGE_UPSTREAM_API_KEY",
  "PRESAGE_JUDGE_API_KEY",
  "PRESAGE_METRICS_TOKEN",
  "PRESAGE_API_KEY",
  "PRESAGE_BOOTSTRAP_KEY",
  "PRESAGE_OIDC_CLIENT_SECRET",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
]);

/** Sign-in with an OpenID provider needs all three. */
export const oidcNames = [
  "PRESAGE_OIDC_ISSUER",
  "PRESAGE_OIDC_CLIENT_ID",
  "PRESAGE_OIDC_CLIENT_SECRET",
] as const;
