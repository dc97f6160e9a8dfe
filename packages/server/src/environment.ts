import { z } from "zod";

/** What a variable says of itself, beside its schema. */
declare module "zod" {
  interface GlobalMeta {
    /** What the variable accepts, for the line that refuses a wrong value. */
    takes?: string;
  }
}

const wholeNumber = (lowest: number, highest: number) =>
  z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number)
    .pipe(z.number().min(lowest).max(highest));
const onOff = z.stringbool({ truthy: ["true", "1", "yes", "on"], falsy: ["false", "0", "no", "off"] });
const httpUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine((value) => new URL(value).username === "" && new URL(value).password === "")
  .transform((value) => value.replace(/\/+$/, ""));
/** Pages, their parts and cookies are at the root of their host. */
const originUrl = httpUrl
  .refine((value) => {
    const { pathname, search, hash } = new URL(value);
    return pathname + search + hash === "/";
  })
  .transform((value) => new URL(value).origin);
/** Unlike other addresses it is compared letter by letter, a slash at its end as well. */
const issuerUrl = z
  .url({ protocol: /^https?$/, abort: true })
  .refine((value) => new URL(value).username === "" && new URL(value).password === "");
const text = z.string();
const domain = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/;
/** Says of sign-in, where nothing else restricts it, that everybody whom the provider knows may come in. */
export const everybody = "*";
const domains = z
  .string()
  .transform((list) => list.split(",").map((name) => name.trim().toLowerCase()))
  .refine(
    (names) => names.every((name) => domain.test(name)) || (names.length === 1 && names[0] === everybody),
  );
const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const dayMs = 86_400_000;
const yearHours = 8_760;
const yearMinutes = 525_600;
const mebibyte = 1_048_576;
const gibibyte = 1_073_741_824;
const httpAddress = "an http or https address without a user or a password in it";

/** Every environment variable that Presage reads. `--help`, `presage config` and the checks are made from this table. */
export const environment = z.object({
  PRESAGE_HOST: text
    .default("127.0.0.1")
    .meta({ description: "where it listens", takes: "an address or a host name" }),
  PRESAGE_PORT: wholeNumber(0, 65_535).default(8080).meta({
    description: "the port; 0 picks a free one and prints it",
    takes: "a whole number from 0 to 65535",
  }),
  PRESAGE_DATABASE_URL: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/)
    .default("sqlite:data/presage.db")
    .meta({
      description: "where everything is kept",
      takes: "sqlite:PATH, sqlite::memory: or postgres://…",
    }),
  PRESAGE_UPSTREAM_URL: httpUrl.optional().meta({
    description:
      "base URL of the chat-completions deployment, with its /v1; without it the built-in sandbox answers",
    takes: httpAddress,
  }),
  PRESAGE_UPSTREAM_API_KEY: text
    .optional()
    .meta({ description: "sent to the upstream as a bearer token", takes: "text" }),
  PRESAGE_UPSTREAM_MODEL: text
    .optional()
    .meta({ description: "the served model's name; without it the upstream's first model", takes: "text" }),
  PRESAGE_UPSTREAM_TIMEOUT_MS: wholeNumber(1, dayMs)
    .default(120_000)
    .meta({
      description: "deadline of one prediction in milliseconds, retries included",
      takes: `a whole number of milliseconds from 1 to ${dayMs}`,
    }),
  PRESAGE_UPSTREAM_RETRIES: wholeNumber(0, 20).default(2).meta({
    description: "further tries after a refused or reset connection or a 503",
    takes: "a whole number from 0 to 20",
  }),
  PRESAGE_UPSTREAM_KEEP_ALIVE: onOff.default(true).meta({
    description: "connections to the upstream are used for more than one call",
    takes: "true or false",
  }),
  PRESAGE_DEBUG_FIELDS: onOff.default(false).meta({
    description: "/v1/predict answers with the composed prompt",
    takes: "true or false",
  }),
  PRESAGE_RATE_LIMIT_RPM: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0).meta({
    description: "prediction requests a minute for each key; 0 sets no limit",
    takes: "a whole number, 0 for no limit",
  }),
  PRESAGE_RATE_LIMIT_USER_RPM: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().meta({
    description:
      "prediction requests a minute for all keys and sessions of a user together; 0 sets no limit; without it 10 times PRESAGE_RATE_LIMIT_RPM",
    takes: "a whole number, 0 for no limit",
  }),
  PRESAGE_RATE_LIMIT_ACCOUNT_RPM: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().meta({
    description:
      "prediction requests a minute for all users of an account together; 0 sets no limit; without it 50 times PRESAGE_RATE_LIMIT_RPM",
    takes: "a whole number, 0 for no limit",
  }),
  PRESAGE_MAX_IN_FLIGHT: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(10_000).meta({
    description: "predictions under way at once; past it 503",
    takes: "a whole number above 0",
  }),
  PRESAGE_EVALUATIONS_MAX_IN_FLIGHT: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(10_000).meta({
    description: "evaluation requests under way at once; past it 503",
    takes: "a whole number above 0",
  }),
  PRESAGE_MAX_BODY_BYTES: wholeNumber(1, gibibyte)
    .default(16_777_216)
    .meta({
      description: "larger request bodies get 413",
      takes: `a whole number of bytes from 1 to ${gibibyte}`,
    }),
  PRESAGE_MEMORY_BUDGET_BYTES: wholeNumber(mebibyte, Number.MAX_SAFE_INTEGER)
    .optional()
    .meta({
      description:
        "memory for bodies under way, answers being written and results that wait; past it 503. Without it a quarter of the machine's or the container's",
      takes: `a whole number of bytes from ${mebibyte}`,
    }),
  PRESAGE_BOOTSTRAP_KEY: z
    .string()
    .regex(/^[!-~]{32,512}$/)
    .optional()
    .meta({
      description: "an API key of 32 characters or more that exists from the first start",
      takes: "32 to 512 visible ASCII characters",
    }),
  PRESAGE_OIDC_ISSUER: issuerUrl.optional().meta({
    description: "the OpenID provider that people sign in with; without it the server is in local mode",
    takes: httpAddress,
  }),
  PRESAGE_OIDC_CLIENT_ID: text
    .optional()
    .meta({ description: "this server's id at the OpenID provider", takes: "text" }),
  PRESAGE_OIDC_CLIENT_SECRET: text
    .optional()
    .meta({ description: "this server's secret at the OpenID provider", takes: "text" }),
  PRESAGE_OIDC_ALLOWED_DOMAINS: domains.optional().meta({
    description:
      "only people with a verified e-mail address of one of these domains may sign in; * lets in everybody whom the provider knows",
    takes: "domains with commas between them, for example example.org,example.com, or *",
  }),
  PRESAGE_OIDC_ACCOUNT_CLAIM: text.optional().meta({
    description:
      "the claim that names a user's account; without it everybody is in the account default, the owner's",
    takes: "text",
  }),
  PRESAGE_SESSION_IDLE_MINUTES: wholeNumber(1, yearMinutes)
    .default(720)
    .meta({
      description: "minutes after which a browser that is not used is signed out",
      takes: `a whole number of minutes from 1 to ${yearMinutes}`,
    }),
  PRESAGE_SESSION_MAX_HOURS: wholeNumber(1, yearHours)
    .default(168)
    .meta({
      description: "hours after which a browser is signed out, however much it is used",
      takes: `a whole number of hours from 1 to ${yearHours}`,
    }),
  PRESAGE_PUBLIC_URL: originUrl.optional().meta({
    description: "the address that browsers use; without it made from host and port",
    takes: `${httpAddress}, and without a path`,
  }),
  PRESAGE_JUDGE_URL: httpUrl.optional().meta({
    description: "the model behind judge evaluators; without it the upstream",
    takes: httpAddress,
  }),
  PRESAGE_JUDGE_API_KEY: text
    .optional()
    .meta({ description: "sent to the judge as a bearer token", takes: "text" }),
  PRESAGE_JUDGE_MODEL: text.optional().meta({ description: "the judge's model name", takes: "text" }),
  PRESAGE_JUDGE_MAX_IN_FLIGHT: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().meta({
    description:
      "calls to the judge's model under way at once, past which they wait; without it 256, or PRESAGE_MAX_IN_FLIGHT if that is less",
    takes: "a whole number above 0",
  }),
  PRESAGE_METRICS_TOKEN: z
    .string()
    .regex(/^[!-~]{16,512}$/)
    .optional()
    .meta({
      description: "the bearer token that /metrics asks for; without it only this machine may read them",
      takes: "16 to 512 visible ASCII characters",
    }),
  PRESAGE_LOG_LEVEL: z
    .enum(logLevels)
    .default("info")
    .meta({ description: "how much is logged", takes: logLevels.join(", ") }),
  PRESAGE_API_KEY: text.optional().meta({
    description:
      "the key with which the command line calls another server (presage predict --server, presage evaluate --server)",
    takes: "text",
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional().meta({
    description: "where OpenTelemetry traces go; none are made without it",
    takes: httpAddress,
  }),
});

/** Sign-in needs all three of them. */
export const oidcNames = [
  "PRESAGE_OIDC_ISSUER",
  "PRESAGE_OIDC_CLIENT_ID",
  "PRESAGE_OIDC_CLIENT_SECRET",
] as const;

export type Environment = z.output<typeof environment>;
export type EnvironmentName = keyof Environment;

/** Values that no output ever shows. */
export const secretNames: ReadonlySet<string> = new Set<EnvironmentName>([
  "PRESAGE_DATABASE_URL",
  "PRESAGE_UPSTREAM_API_KEY",
  "PRESAGE_BOOTSTRAP_KEY",
  "PRESAGE_OIDC_CLIENT_SECRET",
  "PRESAGE_JUDGE_API_KEY",
  "PRESAGE_METRICS_TOKEN",
  "PRESAGE_API_KEY",
]);
