import { availableParallelism } from "node:os";
import { capturePattern } from "@presage/contract";
import { z } from "zod";
import {
  expectedUrl,
  httpUrl,
  httpUrls,
  leastAuditDays,
  onOff,
  originUrl,
  redisUrl,
  retentionDays,
  text,
  wholeNumber,
} from "./environment-values.ts";
import { identityVariables, secretIdentityNames } from "./identity-environment.ts";
import { secretTelemetryNames, telemetryVariables } from "./telemetry-environment.ts";

declare module "zod" {
  interface GlobalMeta {
    /** What a variable accepts, for the error about an invalid value. */
    expected?: string;
  }
}

const chatCompatibilities = ["strict", "openai"] as const;
export const cachePolicies = ["off", "deterministic", "seeded"] as const;
const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

const maxWorkers = 256;
const dayMs = 86_400_000;
const centuryDays = 36_500;
const yearSeconds = 31_536_000;
const mebibyte = 1_048_576;
const gibibyte = 1_073_741_824;
const tebibyte = 1024 * gibibyte;

/** Every environment variable that Presage reads; the source of `--help`, `presage config` and validation. */
export const environment = z.object({
  PRESAGE_HOST: text
    .default("127.0.0.1")
    .meta({ description: "address to listen on", expected: "an IP address or a host name" }),
  PRESAGE_PORT: wholeNumber(0, 65_535).default(8080).meta({
    description: "port to listen on; 0 picks a free one and logs it",
    expected: "a whole number from 0 to 65535",
  }),
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
  PRESAGE_REDIS_URL: redisUrl.optional().meta({
    description:
      "Valkey or Redis that all processes share; if not set, or while it is gone, each process works by itself",
    expected: "redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// with TLS",
  }),
  PRESAGE_UPSTREAM_URL: httpUrls.optional().meta({
    description:
      "base URL of the chat-completions deployment, including /v1, or of each of its replicas, with commas between them; if not set, the built-in sandbox answers",
    expected: `${expectedUrl}, or several different ones with commas between them`,
  }),
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
  PRESAGE_UPSTREAM_API_KEY: text
    .optional()
    .meta({ description: "sent to the upstream as a bearer token", expected: "text" }),
  PRESAGE_UPSTREAM_MODEL: text.optional().meta({
    description: "name of the served model; if not set, the upstream's first model",
    expected: "text",
  }),
  PRESAGE_UPSTREAM_TIMEOUT_MS: wholeNumber(1, dayMs)
    .default(120_000)
    .meta({
      description: "deadline of a prediction in milliseconds, including retries",
      expected: `a whole number of milliseconds from 1 to ${dayMs}`,
    }),
  PRESAGE_UPSTREAM_RETRIES: wholeNumber(0, 20).default(2).meta({
    description: "retries after a refused or reset connection or a 503",
    expected: "a whole number from 0 to 20",
  }),
  PRESAGE_CACHE: z
    .enum(cachePolicies)
    .default("off")
    .meta({
      description:
        "which predictions are kept and, while under way, shared: none, those with temperature 0 (deterministic), or also those with a seed (seeded)",
      expected: cachePolicies.join(", "),
    }),
  PRESAGE_CACHE_MAX_BYTES: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(268_435_456).meta({
    description:
      "memory in bytes for predictions that are kept and for what recognises the bodies that were hits; least recently used ones leave first",
    expected: "a whole number of bytes above 0",
  }),
  PRESAGE_CACHE_MAX_AGE_S: wholeNumber(1, yearSeconds)
    .default(86_400)
    .meta({
      description: "how long a prediction is kept, in seconds",
      expected: `a whole number of seconds from 1 to ${yearSeconds}`,
    }),
  PRESAGE_CACHE_EPOCH: text.optional().meta({
    description:
      "any text; changing it discards all predictions that were kept, as after new weights under an old name",
    expected: "text",
  }),
  PRESAGE_CAPTURE: text.regex(capturePattern).default("off").meta({
    description:
      "which predictions of clients are stored with their texts: none, those that failed, all, or a share from 0 to 1; a key's own setting wins",
    expected: "off, failures, all, or a share from 0 to 1 such as 0.01",
  }),
  PRESAGE_CAPTURE_MAX_AGE_DAYS: wholeNumber(1, centuryDays)
    .default(30)
    .meta({
      description: "after how many days predictions of clients that were stored are deleted",
      expected: `a whole number of days from 1 to ${centuryDays}`,
    }),
  PRESAGE_RETENTION: retentionDays(centuryDays)
    .optional()
    .meta({
      description:
        "after how many days evaluation results, predictions of clients, episodes, usage and events of the audit log are deleted; what is not named is kept, but for predictions (PRESAGE_CAPTURE_MAX_AGE_DAYS)",
      expected: `results, predictions, episodes, usage or audit, each with =DAYS from 1 to ${centuryDays} (audit: from ${leastAuditDays}) and commas between them, such as results=90,usage=365`,
    }),
  PRESAGE_UPSTREAM_KEEP_ALIVE: onOff.default(true).meta({
    description: "whether connections to the upstream are reused",
    expected: "true or false",
  }),
  PRESAGE_CHAT_COMPATIBILITY: z
    .enum(chatCompatibilities)
    .default("strict")
    .meta({
      description:
        "what /v1/chat/completions accepts: text messages, answered as a whole (strict), or also what else OpenAI's clients send (openai): streaming, messages of tools, content in parts, nulls",
      expected: chatCompatibilities.join(", "),
    }),
  PRESAGE_DEBUG_FIELDS: onOff.default(false).meta({
    description: "whether responses of /v1/predict include the composed prompt",
    expected: "true or false",
  }),
  PRESAGE_RATE_LIMIT_RPM: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0).meta({
    description: "prediction requests per minute for each API key; 0 for no limit",
    expected: "a whole number, 0 for no limit",
  }),
  PRESAGE_RATE_LIMIT_USER_RPM: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().meta({
    description:
      "prediction requests per minute for all API keys and sessions of a user together; 0 for no limit; if not set, 10 times PRESAGE_RATE_LIMIT_RPM",
    expected: "a whole number, 0 for no limit",
  }),
  PRESAGE_RATE_LIMIT_ACCOUNT_RPM: wholeNumber(0, Number.MAX_SAFE_INTEGER).optional().meta({
    description:
      "prediction requests per minute for all users of an account together; 0 for no limit; if not set, 50 times PRESAGE_RATE_LIMIT_RPM",
    expected: "a whole number, 0 for no limit",
  }),
  PRESAGE_MAX_IN_FLIGHT: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(10_000).meta({
    description: "maximum concurrent predictions; beyond it, 503",
    expected: "a whole number above 0",
  }),
  PRESAGE_EVALUATIONS_MAX_IN_FLIGHT: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(10_000).meta({
    description: "maximum concurrent evaluation requests; beyond it, 503",
    expected: "a whole number above 0",
  }),
  PRESAGE_EVALUATE_ACCOUNT_IN_FLIGHT: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().meta({
    description:
      "maximum concurrent evaluation requests of an account; beyond it, 429; if not set, PRESAGE_EVALUATIONS_MAX_IN_FLIGHT",
    expected: "a whole number above 0",
  }),
  PRESAGE_EVALUATE_RPM: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0).meta({
    description: "evaluation requests per minute for all users of an account together; 0 for no limit",
    expected: "a whole number, 0 for no limit",
  }),
  PRESAGE_MAX_BODY_BYTES: wholeNumber(1, gibibyte)
    .default(16_777_216)
    .meta({
      description: "maximum request body size in bytes; beyond it, 413",
      expected: `a whole number of bytes from 1 to ${gibibyte}`,
    }),
  PRESAGE_MAX_DATASET_BYTES: wholeNumber(1, tebibyte)
    .default(gibibyte)
    .meta({
      description: "maximum size in bytes of one upload to a dataset, decompressed; beyond it, 413",
      expected: `a whole number of bytes from 1 to ${tebibyte}`,
    }),
  PRESAGE_DATASET_QUOTA_BYTES: wholeNumber(1, Number.MAX_SAFE_INTEGER)
    .default(64 * gibibyte)
    .meta({
      description:
        "maximum size in bytes of all datasets of an account, as they are exported; beyond it, 413",
      expected: "a whole number of bytes above 0",
    }),
  PRESAGE_MIN_FREE_DISK_BYTES: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(gibibyte).meta({
    description:
      "bytes that uploads and runs leave free on the disk of an SQLite database; below it, uploads get 507 and runs wait",
    expected: "a whole number of bytes, 0 for none",
  }),
  PRESAGE_RUNS_MAX_IN_FLIGHT: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().meta({
    description:
      "maximum concurrent predictions of all runs; further ones wait; if not set, a tenth of PRESAGE_MAX_IN_FLIGHT",
    expected: "a whole number above 0",
  }),
  PRESAGE_MEMORY_BUDGET_BYTES: wholeNumber(mebibyte, Number.MAX_SAFE_INTEGER)
    .optional()
    .meta({
      description:
        "memory in bytes for request bodies, responses and results that wait to be written; beyond it, 503; if not set, a quarter of the memory of the machine or container",
      expected: `a whole number of bytes from ${mebibyte}`,
    }),
  ...identityVariables,
  PRESAGE_PUBLIC_URL: originUrl.optional().meta({
    description: "URL that browsers use; if not set, derived from host and port",
    expected: "an http or https URL without user name, password, query and path",
  }),
  PRESAGE_JUDGE_URL: httpUrl.optional().meta({
    description: "base URL of the model behind judge evaluators; if not set, the upstream",
    expected: expectedUrl,
  }),
  PRESAGE_JUDGE_API_KEY: text
    .optional()
    .meta({ description: "sent to the judge's model as a bearer token", expected: "text" }),
  PRESAGE_JUDGE_MODEL: text
    .optional()
    .meta({ description: "model name for judge evaluators", expected: "text" }),
  PRESAGE_JUDGE_MAX_IN_FLIGHT: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional().meta({
    description:
      "maximum concurrent calls to the judge's model; further ones wait; if not set, 256 or PRESAGE_MAX_IN_FLIGHT, whichever is less",
    expected: "a whole number above 0",
  }),
  PRESAGE_METRICS_TOKEN: z
    .string()
    .regex(/^[!-~]{16,512}$/)
    .optional()
    .meta({
      description: "bearer token that /metrics requires; if not set, only this machine may read the metrics",
      expected: "16 to 512 visible ASCII characters",
    }),
  PRESAGE_LOG_LEVEL: z
    .enum(logLevels)
    .default("info")
    .meta({ description: "minimum level of logged messages", expected: logLevels.join(", ") }),
  PRESAGE_API_KEY: text.optional().meta({
    description: "API key for --server of presage predict, evaluate, datasets, run, runs, compare and report",
    expected: "text",
  }),
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
  ...secretIdentityNames,
  ...secretTelemetryNames,
]);
