import type { Role } from "@presage/contract";
import type { z } from "zod";
import packageJson from "../../package.json" with { type: "json" };
import type { OtlpTarget, TelemetryOptions } from "../platform/observability/otlp.ts";
import { isObject } from "../platform/words.ts";
import {
  type Environment,
  type EnvironmentName,
  environment,
  oidcNames,
  secretNames,
} from "./environment.ts";
import { anyDomain, expectedOf, type RawEnvironment } from "./values.ts";

/** Several processes share a database only if it is a server, and a port only where the system balances connections. */
function missingForWorkers(values: Environment | undefined): string[] {
  if (values === undefined || values.PRESAGE_WORKERS === 1) return [];
  const needs = `PRESAGE_WORKERS: ${values.PRESAGE_WORKERS} processes need`;
  if (process.platform !== "linux") return [`${needs} Linux; set it to 1`];
  if (values.PRESAGE_DATABASE_URL.startsWith("sqlite:"))
    return [`${needs} PostgreSQL; set PRESAGE_DATABASE_URL to postgres://…, or PRESAGE_WORKERS to 1`];
  return [];
}

/** Variables that the file sets for each deployment instead. */
const besideDeployments = [
  "PRESAGE_UPSTREAM_URL",
  "PRESAGE_UPSTREAM_API_KEY",
  "PRESAGE_UPSTREAM_MODEL",
  "PRESAGE_CACHE",
] as const;

function contradictionsOfDeployments(set: RawEnvironment): string[] {
  if (set.PRESAGE_DEPLOYMENTS === undefined) return [];
  const lines = besideDeployments
    .filter((name) => set[name] !== undefined)
    .map((name) => `${name}: set together with PRESAGE_DEPLOYMENTS; unset one of them`);
  if (set.PRESAGE_JUDGE_API_KEY !== undefined && set.PRESAGE_JUDGE_URL === undefined)
    lines.push(
      "PRESAGE_JUDGE_API_KEY: set together with PRESAGE_DEPLOYMENTS, whose default deployment has its own key; unset it, or set PRESAGE_JUDGE_URL",
    );
  return lines;
}

function contradictionOfRetention(set: RawEnvironment, values: Environment | undefined): string[] {
  const isTwice =
    values?.PRESAGE_RETENTION?.predictions !== undefined && set.PRESAGE_CAPTURE_MAX_AGE_DAYS !== undefined;
  if (!isTwice) return [];
  return ["PRESAGE_CAPTURE_MAX_AGE_DAYS: set together with predictions in PRESAGE_RETENTION; unset it"];
}

function missingForSignIn(set: RawEnvironment): string[] {
  const missing = oidcNames.filter((name) => set[name] === undefined);
  if (missing.length === oidcNames.length) return [];
  return missing.map((name) => `${name}: not set; set all of ${oidcNames.join(", ")} or none`);
}

/** Without a restriction, everyone with an account at a public provider would join the owner's account. */
function missingRestriction(set: RawEnvironment): string[] {
  const { PRESAGE_OIDC_ISSUER, PRESAGE_OIDC_ALLOWED_DOMAINS, PRESAGE_OIDC_ACCOUNT_CLAIM } = set;
  if (PRESAGE_OIDC_ISSUER === undefined) return [];
  if ((PRESAGE_OIDC_ALLOWED_DOMAINS ?? PRESAGE_OIDC_ACCOUNT_CLAIM) !== undefined) return [];
  return [
    `PRESAGE_OIDC_ALLOWED_DOMAINS: not set; set it to the e-mail domains whose users may sign in, or to ${anyDomain} to allow every user of the provider, or set PRESAGE_OIDC_ACCOUNT_CLAIM to the claim that names a user's account`,
  ];
}

type Signal = "traces" | "metrics";

/** OpenTelemetry's variables: those for one signal take precedence over those for both. */
function telemetryOf(values: Environment): TelemetryOptions {
  const [traces, metrics] = [targetOf(values, "traces"), targetOf(values, "metrics")];
  return {
    attributes: {
      "service.name": "presage",
      "service.version": packageJson.version,
      ...values.OTEL_RESOURCE_ATTRIBUTES,
      ...(values.OTEL_SERVICE_NAME === undefined ? {} : { "service.name": values.OTEL_SERVICE_NAME }),
    },
    traces: traces && { ...traces, hasTexts: values.PRESAGE_OTEL_CONTENT === "spans" },
    metrics: metrics && { ...metrics, intervalMs: values.OTEL_METRIC_EXPORT_INTERVAL },
  };
}

function targetOf(values: Environment, signal: Signal): OtlpTarget | undefined {
  const name = signal === "traces" ? "TRACES" : "METRICS";
  const base = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = values[`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`] ?? (base && `${base}/v1/${signal}`);
  const isOff = values[`OTEL_${name}_EXPORTER`] === "none" || values.OTEL_SDK_DISABLED;
  if (url === undefined || isOff) return undefined;
  return {
    url,
    headers: { ...values.OTEL_EXPORTER_OTLP_HEADERS, ...values[`OTEL_EXPORTER_OTLP_${name}_HEADERS`] },
    protocol:
      values[`OTEL_EXPORTER_OTLP_${name}_PROTOCOL`] ?? values.OTEL_EXPORTER_OTLP_PROTOCOL ?? "http/protobuf",
    compression: values.OTEL_EXPORTER_OTLP_COMPRESSION,
    timeoutMs: values.OTEL_EXPORTER_OTLP_TIMEOUT,
  };
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
/** Unless configured, the limits of a user and an account are these multiples of an API key's limit. */
const keysPerUser = 10;
const keysPerAccount = 50;
/** A common batch size of model servers. */
const defaultJudgeCalls = 256;

export type Workers = Readonly<{ count: number; index: number }>;

export type OidcConfig = Readonly<{
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** In lower case. Absent: users of every domain may sign in, even without an e-mail address. */
  allowedDomains: readonly string[] | undefined;
  /** Absent: all users are in one account. */
  accountClaim: string | undefined;
  newUserRole: Role;
}>;

/** The environment is invalid; the message has one line for each invalid variable. */
export class ConfigError extends Error {
  constructor(lines: string[]) {
    super(lines.join("\n"));
    this.name = "ConfigError";
  }
}

export type Config = Readonly<ReturnType<typeof readConfig>>;

/** Reads every variable, or throws a `ConfigError` that names all invalid ones. */
export function readConfig(raw: RawEnvironment) {
  const values = readEnvironment(raw);
  return frozen({
    /** A factor on the waits of background work: 1, and less in tests. */
    patience: 1,
    listen: {
      host: values.PRESAGE_HOST,
      port: values.PRESAGE_PORT,
      publicUrl: values.PRESAGE_PUBLIC_URL,
      maxBodyBytes: values.PRESAGE_MAX_BODY_BYTES,
    },
    /** The number of processes that share the port, and which of them this is, from 0. */
    workers: { count: values.PRESAGE_WORKERS, index: 0 } as Workers,
    databaseUrl: values.PRESAGE_DATABASE_URL,
    redisUrl: values.PRESAGE_REDIS_URL,
    memoryBudgetBytes: values.PRESAGE_MEMORY_BUDGET_BYTES,
    minFreeDiskBytes: values.PRESAGE_MIN_FREE_DISK_BYTES,
    deployments: fileWithKeys(values.PRESAGE_DEPLOYMENTS, raw),
    realEnvironments: fileWithKeys(values.PRESAGE_REAL_ENVIRONMENTS, raw),
    pricesPath: values.PRESAGE_PRICES,
    upstream: {
      /** The base URL of each replica. Undefined: the sandbox. */
      urls: values.PRESAGE_UPSTREAM_URL as readonly string[] | undefined,
      apiKey: values.PRESAGE_UPSTREAM_API_KEY,
      model: values.PRESAGE_UPSTREAM_MODEL,
      timeoutMs: values.PRESAGE_UPSTREAM_TIMEOUT_MS,
      retries: values.PRESAGE_UPSTREAM_RETRIES,
      keepAlive: values.PRESAGE_UPSTREAM_KEEP_ALIVE,
      client: values.PRESAGE_UPSTREAM_CLIENT,
    },
    cache: {
      policy: values.PRESAGE_CACHE,
      maxBytes: values.PRESAGE_CACHE_MAX_BYTES,
      maxAgeS: values.PRESAGE_CACHE_MAX_AGE_S,
      epoch: values.PRESAGE_CACHE_EPOCH ?? "",
    },
    capture: {
      setting: values.PRESAGE_CAPTURE,
      maxAgeDays: values.PRESAGE_RETENTION?.predictions ?? values.PRESAGE_CAPTURE_MAX_AGE_DAYS,
    },
    /** After how many days each kind of data is deleted; absent: never. */
    retention: {
      predictions: values.PRESAGE_CAPTURE_MAX_AGE_DAYS,
      ...values.PRESAGE_RETENTION,
    },
    ...workOf(values),
    identity: {
      /** Undefined: local mode. */
      oidc: oidcOf(values),
      bootstrapKey: values.PRESAGE_BOOTSTRAP_KEY,
      session: {
        idleMs: values.PRESAGE_SESSION_IDLE_MINUTES * minuteMs,
        maxMs: values.PRESAGE_SESSION_MAX_HOURS * hourMs,
      },
    },
    judge: {
      url: values.PRESAGE_JUDGE_URL,
      apiKey: values.PRESAGE_JUDGE_API_KEY,
      model: values.PRESAGE_JUDGE_MODEL,
      maxInFlight:
        values.PRESAGE_JUDGE_MAX_IN_FLIGHT ?? Math.min(defaultJudgeCalls, values.PRESAGE_MAX_IN_FLIGHT),
    },
    metricsToken: values.PRESAGE_METRICS_TOKEN,
    logLevel: values.PRESAGE_LOG_LEVEL,
    telemetry: telemetryOf(values),
    /** The key for the command line's calls to another server. */
    clientApiKey: values.PRESAGE_API_KEY,
  });
}

/** A file that names the variables which contain its keys. */
function fileWithKeys(path: string | undefined, raw: RawEnvironment) {
  return path === undefined ? undefined : { path, environment: { ...raw } };
}

/** Settings and limits of the work that may be requested. */
function workOf(values: Environment) {
  return {
    prediction: {
      debugFields: values.PRESAGE_DEBUG_FIELDS,
      chatCompatibility: values.PRESAGE_CHAT_COMPATIBILITY,
      ratePerMinute: values.PRESAGE_RATE_LIMIT_RPM,
      userRatePerMinute: values.PRESAGE_RATE_LIMIT_USER_RPM ?? keysPerUser * values.PRESAGE_RATE_LIMIT_RPM,
      accountRatePerMinute:
        values.PRESAGE_RATE_LIMIT_ACCOUNT_RPM ?? keysPerAccount * values.PRESAGE_RATE_LIMIT_RPM,
      maxInFlight: values.PRESAGE_MAX_IN_FLIGHT,
    },
    evaluation: {
      accountRatePerMinute: values.PRESAGE_EVALUATE_RPM,
      maxInFlight: values.PRESAGE_EVALUATIONS_MAX_IN_FLIGHT,
      maxInFlightEach: values.PRESAGE_EVALUATE_ACCOUNT_IN_FLIGHT ?? values.PRESAGE_EVALUATIONS_MAX_IN_FLIGHT,
    },
    datasets: {
      maxBytes: values.PRESAGE_MAX_DATASET_BYTES,
      quotaBytes: values.PRESAGE_DATASET_QUOTA_BYTES,
    },
    worlds: { maxIndexBytes: values.PRESAGE_INDEX_MAX_BYTES },
    runs: {
      maxInFlight: values.PRESAGE_RUNS_MAX_IN_FLIGHT ?? Math.ceil(values.PRESAGE_MAX_IN_FLIGHT / 10),
    },
  };
}

/** Freezes a value and everything in it. */
function frozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

/** Whether SIGHUP makes the server read files again. Without such files it ends the process, as when a terminal closes. */
export function hasFilesToReread({ deployments, pricesPath, realEnvironments }: Config): boolean {
  return [deployments, pricesPath, realEnvironments].some((file) => file !== undefined);
}

/** The variables that only the clients read. */
const variablesOfClients = ["PRESAGE_URL"];

/** Variables with our prefix that Presage does not know: most likely misspelt. */
export function unknownVariables(raw: RawEnvironment): string[] {
  return Object.keys(raw).filter(
    (name) =>
      name.startsWith("PRESAGE_") &&
      !Object.hasOwn(environment.shape, name) &&
      !variablesOfClients.includes(name),
  );
}

/** The name, value (secrets hidden) and origin of every variable. */
export function describeConfig(
  raw: RawEnvironment,
): { name: string; value: string; from: "environment" | "default" }[] {
  const values = readEnvironment(raw);
  return environmentNames.map((name) => ({
    name,
    value: shown(name, values[name]),
    from: isSet(raw[name]) ? "environment" : "default",
  }));
}

const environmentNames = Object.keys(environment.shape) as EnvironmentName[];

function readEnvironment(raw: RawEnvironment): Environment {
  // Many tools set an empty variable to mean that it is not set.
  const set: RawEnvironment = Object.fromEntries(
    environmentNames.filter((name) => isSet(raw[name])).map((name) => [name, raw[name]]),
  );
  const parsed = environment.safeParse(set);
  const lines = [
    // A set, because a list has an issue for each item.
    ...new Set((parsed.error?.issues ?? []).map((issue) => issueLine(issue, set))),
    // Contradictions between variables that are each valid alone.
    ...missingForWorkers(parsed.data),
    ...contradictionsOfDeployments(set),
    ...contradictionOfRetention(set, parsed.data),
    ...missingForSignIn(set),
    ...missingRestriction(set),
  ];
  if (!parsed.success || lines.length > 0) throw new ConfigError(lines);
  return parsed.data;
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}

function issueLine(issue: z.core.$ZodIssue, set: RawEnvironment): string {
  const name = String(issue.path[0]) as EnvironmentName;
  const got = secretNames.has(name) ? "a hidden value" : JSON.stringify(withoutCredentials(set[name]));
  return `${name}: got ${got}; expected ${expectedOf(environment.shape[name])}`;
}

function shown(name: EnvironmentName, value: unknown): string {
  if (value === undefined) return "";
  if (name === "PRESAGE_DATABASE_URL" || name === "PRESAGE_REDIS_URL")
    return withoutCredentials(String(value));
  if (secretNames.has(name)) return "***";
  return isObject(value)
    ? Object.entries(value)
        .map((pair) => pair.join("="))
        .join(",")
    : String(value);
}

/** A URL may contain a password before its `@` or in its query, even where none is allowed or the rest is not a URL. */
export function withoutCredentials(text = ""): string {
  return text
    .replace(/^([a-z0-9+.-]*:\/*)?.*@/is, "$1***@")
    .replace(/([?&][^=&]*(?:password|secret|token|key)=)[^&]*/gi, "$1***");
}

function oidcOf(values: Environment): OidcConfig | undefined {
  const { PRESAGE_OIDC_ISSUER: issuer, PRESAGE_OIDC_CLIENT_ID: clientId } = values;
  const clientSecret = values.PRESAGE_OIDC_CLIENT_SECRET;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  const allowedDomains = values.PRESAGE_OIDC_ALLOWED_DOMAINS;
  return {
    issuer,
    clientId,
    clientSecret,
    allowedDomains: allowedDomains?.[0] === anyDomain ? undefined : allowedDomains,
    accountClaim: values.PRESAGE_OIDC_ACCOUNT_CLAIM,
    newUserRole: values.PRESAGE_NEW_USER_ROLE,
  };
}
