import { z } from "zod";
import {
  type Environment,
  type EnvironmentName,
  environment,
  everybody,
  oidcNames,
  secretNames,
} from "./environment.ts";

const minuteMs = 60_000;
const hourMs = 3_600_000;
/** So many keys of a user, and of an account, reach their rates at the same time, unless it is set otherwise. */
const keysOfUser = 10;
const keysOfAccount = 50;
/** As many as a server of models usually works on at once. */
const defaultJudgeCalls = 256;

export type Config = Readonly<{
  listen: Readonly<{ host: string; port: number; publicUrl: string | undefined; maxBodyBytes: number }>;
  databaseUrl: string;
  /** Absent: a quarter of what there is. */
  memoryBudgetBytes: number | undefined;
  upstream: Readonly<{
    /** Absent: the sandbox. */
    url: string | undefined;
    apiKey: string | undefined;
    model: string | undefined;
    timeoutMs: number;
    retries: number;
    keepAlive: boolean;
  }>;
  prediction: Readonly<{
    debugFields: boolean;
    ratePerMinute: number;
    userRatePerMinute: number;
    accountRatePerMinute: number;
    maxInFlight: number;
  }>;
  evaluation: Readonly<{ maxInFlight: number }>;
  identity: Readonly<{
    bootstrapKey: string | undefined;
    /** Absent: local mode. */
    oidc: OidcConfig | undefined;
    session: Readonly<{ idleMs: number; maxMs: number }>;
  }>;
  judge: Readonly<{
    url: string | undefined;
    apiKey: string | undefined;
    model: string | undefined;
    maxInFlight: number;
  }>;
  /** Absent: only this machine may read the metrics. */
  metricsToken: string | undefined;
  logLevel: Environment["PRESAGE_LOG_LEVEL"];
  otlpEndpoint: string | undefined;
  /** The key with which the command line calls another server. */
  clientApiKey: string | undefined;
}>;

export type OidcConfig = Readonly<{
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** In small letters. Absent: people of every domain may sign in, and without an e-mail address too. */
  allowedDomains: readonly string[] | undefined;
  /** Absent: all users are in one account. */
  accountClaim: string | undefined;
}>;

/** The environment is wrong; the message has one line for each wrong variable. */
export class ConfigError extends Error {
  constructor(lines: string[]) {
    super(lines.join("\n"));
    this.name = "ConfigError";
  }
}

export type RawEnvironment = Readonly<Record<string, string | undefined>>;

/** Reads every variable, or throws a `ConfigError` that names all the wrong ones. */
export function readConfig(raw: RawEnvironment): Config {
  const values = readEnvironment(raw);
  return Object.freeze({
    listen: Object.freeze({
      host: values.PRESAGE_HOST,
      port: values.PRESAGE_PORT,
      publicUrl: values.PRESAGE_PUBLIC_URL,
      maxBodyBytes: values.PRESAGE_MAX_BODY_BYTES,
    }),
    databaseUrl: values.PRESAGE_DATABASE_URL,
    memoryBudgetBytes: values.PRESAGE_MEMORY_BUDGET_BYTES,
    upstream: Object.freeze({
      url: values.PRESAGE_UPSTREAM_URL,
      apiKey: values.PRESAGE_UPSTREAM_API_KEY,
      model: values.PRESAGE_UPSTREAM_MODEL,
      timeoutMs: values.PRESAGE_UPSTREAM_TIMEOUT_MS,
      retries: values.PRESAGE_UPSTREAM_RETRIES,
      keepAlive: values.PRESAGE_UPSTREAM_KEEP_ALIVE,
    }),
    prediction: Object.freeze({
      debugFields: values.PRESAGE_DEBUG_FIELDS,
      ratePerMinute: values.PRESAGE_RATE_LIMIT_RPM,
      userRatePerMinute: values.PRESAGE_RATE_LIMIT_USER_RPM ?? keysOfUser * values.PRESAGE_RATE_LIMIT_RPM,
      accountRatePerMinute:
        values.PRESAGE_RATE_LIMIT_ACCOUNT_RPM ?? keysOfAccount * values.PRESAGE_RATE_LIMIT_RPM,
      maxInFlight: values.PRESAGE_MAX_IN_FLIGHT,
    }),
    evaluation: Object.freeze({ maxInFlight: values.PRESAGE_EVALUATIONS_MAX_IN_FLIGHT }),
    identity: Object.freeze({
      bootstrapKey: values.PRESAGE_BOOTSTRAP_KEY,
      oidc: oidcOf(values),
      session: Object.freeze({
        idleMs: values.PRESAGE_SESSION_IDLE_MINUTES * minuteMs,
        maxMs: values.PRESAGE_SESSION_MAX_HOURS * hourMs,
      }),
    }),
    judge: Object.freeze({
      url: values.PRESAGE_JUDGE_URL,
      apiKey: values.PRESAGE_JUDGE_API_KEY,
      model: values.PRESAGE_JUDGE_MODEL,
      maxInFlight:
        values.PRESAGE_JUDGE_MAX_IN_FLIGHT ?? Math.min(defaultJudgeCalls, values.PRESAGE_MAX_IN_FLIGHT),
    }),
    metricsToken: values.PRESAGE_METRICS_TOKEN,
    logLevel: values.PRESAGE_LOG_LEVEL,
    otlpEndpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT,
    clientApiKey: values.PRESAGE_API_KEY,
  });
}

/** Names that look like ours and are not: most likely misspelt. */
export function unknownVariables(raw: RawEnvironment): string[] {
  return Object.keys(raw).filter(
    (name) => name.startsWith("PRESAGE_") && !Object.hasOwn(environment.shape, name),
  );
}

/** One line for each variable: its name, its value (secrets hidden) and where the value is from. */
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
  // An empty variable is how many tools spell «not set».
  const set: RawEnvironment = Object.fromEntries(
    environmentNames.filter((name) => isSet(raw[name])).map((name) => [name, raw[name]]),
  );
  const parsed = environment.safeParse(set);
  const faults = [
    ...(parsed.error?.issues ?? []).map((issue) => faultLine(issue, set)),
    ...missingForSignIn(set),
    ...missingBounds(set),
  ];
  if (!parsed.success || faults.length > 0) throw new ConfigError(faults);
  return parsed.data;
}

function missingForSignIn(set: RawEnvironment): string[] {
  const missing = oidcNames.filter((name) => set[name] === undefined);
  if (missing.length === oidcNames.length) return [];
  return missing.map((name) => `${name}: not set; ${oidcNames.join(", ")} go together`);
}

/** Without a bound, everybody with an address at a public provider would be in the owner's account. */
function missingBounds(set: RawEnvironment): string[] {
  const { PRESAGE_OIDC_ISSUER, PRESAGE_OIDC_ALLOWED_DOMAINS, PRESAGE_OIDC_ACCOUNT_CLAIM } = set;
  if (PRESAGE_OIDC_ISSUER === undefined) return [];
  if ((PRESAGE_OIDC_ALLOWED_DOMAINS ?? PRESAGE_OIDC_ACCOUNT_CLAIM) !== undefined) return [];
  return [
    `PRESAGE_OIDC_ALLOWED_DOMAINS: not set; set it to the e-mail domains whose people may sign in, or to ${everybody} for everybody whom the provider knows, or set PRESAGE_OIDC_ACCOUNT_CLAIM to the claim that names a user's account`,
  ];
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}

function faultLine(issue: z.core.$ZodIssue, set: RawEnvironment): string {
  const name = String(issue.path[0]) as EnvironmentName;
  const got = secretNames.has(name)
    ? "a value that is not shown"
    : JSON.stringify(withoutCredentials(set[name]));
  return `${name}: got ${got}; takes ${z.globalRegistry.get(environment.shape[name])?.takes}`;
}

function shown(name: EnvironmentName, value: unknown): string {
  if (value === undefined) return "";
  if (name === "PRESAGE_DATABASE_URL") return withoutCredentials(String(value));
  return secretNames.has(name) ? "***" : String(value);
}

/** A URL may carry a password before its `@`, or in its query, even where none is taken and the rest is no URL. */
function withoutCredentials(text = ""): string {
  return text
    .replace(/^([a-z0-9+.-]*:\/*)?.*@/is, "$1***@")
    .replace(/([?&][^=&]*(?:password|secret|token|key)=)[^&]*/gi, "$1***");
}

function oidcOf(values: Environment): OidcConfig | undefined {
  const { PRESAGE_OIDC_ISSUER: issuer, PRESAGE_OIDC_CLIENT_ID: clientId } = values;
  const clientSecret = values.PRESAGE_OIDC_CLIENT_SECRET;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  const allowedDomains = values.PRESAGE_OIDC_ALLOWED_DOMAINS;
  return Object.freeze({
    issuer,
    clientId,
    clientSecret,
    allowedDomains:
      allowedDomains === undefined || allowedDomains[0] === everybody
        ? undefined
        : Object.freeze(allowedDomains),
    accountClaim: values.PRESAGE_OIDC_ACCOUNT_CLAIM,
  });
}
