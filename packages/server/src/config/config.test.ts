import { describe, expect, test } from "bun:test";
import { availableParallelism } from "node:os";
import packageJson from "../../package.json" with { type: "json" };
import { ConfigError, describeConfig, readConfig, unknownVariables } from "./config.ts";
import type { RawEnvironment } from "./values.ts";

const oidc = {
  PRESAGE_OIDC_ISSUER: "https://login.example",
  PRESAGE_OIDC_CLIENT_ID: "presage",
  PRESAGE_OIDC_CLIENT_SECRET: "the-oidc-secret",
};
const everybody = { PRESAGE_OIDC_ALLOWED_DOMAINS: "*" };

/** The error lines for an invalid environment. */
function linesOf(environment: RawEnvironment): string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return error instanceof ConfigError ? error.message.split("\n") : [];
  }
}

describe("An empty environment", () => {
  test("has the documented defaults", () => {
    expect(readConfig({})).toStrictEqual({
      patience: 1,
      listen: { host: "127.0.0.1", port: 8080, publicUrl: undefined, maxBodyBytes: 16_777_216 },
      workers: { count: 1, index: 0 },
      databaseUrl: "sqlite:data/presage.db",
      redisUrl: undefined,
      deployments: undefined,
      pricesPath: undefined,
      realEnvironments: undefined,
      memoryBudgetBytes: undefined,
      minFreeDiskBytes: 1_073_741_824,
      cache: { policy: "off", maxBytes: 268_435_456, maxAgeS: 86_400, epoch: "" },
      capture: { setting: "off", maxAgeDays: 30 },
      retention: { predictions: 30 },
      prediction: {
        debugFields: false,
        chatCompatibility: "strict",
        ratePerMinute: 0,
        userRatePerMinute: 0,
        accountRatePerMinute: 0,
        maxInFlight: 10_000,
      },
      evaluation: { accountRatePerMinute: 0, maxInFlight: 10_000, maxInFlightEach: 10_000 },
      datasets: { maxBytes: 1_073_741_824, quotaBytes: 68_719_476_736 },
      worlds: { maxIndexBytes: undefined },
      runs: { maxInFlight: 1_000 },
      upstream: {
        urls: undefined,
        apiKey: undefined,
        model: undefined,
        timeoutMs: 120_000,
        retries: 2,
        keepAlive: true,
        client: "sockets",
      },
      identity: {
        bootstrapKey: undefined,
        oidc: undefined,
        session: { idleMs: 12 * 3_600_000, maxMs: 7 * 24 * 3_600_000 },
      },
      judge: { url: undefined, apiKey: undefined, model: undefined, maxInFlight: 256 },
      metricsToken: undefined,
      logLevel: "info",
      telemetry: {
        attributes: { "service.name": "presage", "service.version": packageJson.version },
        traces: undefined,
        metrics: undefined,
      },
      clientApiKey: undefined,
    });
  });

  test("ignores empty variables and those of other programs", () => {
    const names = describeConfig({}).map(({ name }) => name);
    const empty = Object.fromEntries(names.map((name) => [name, ""]));
    expect(readConfig({ ...empty, HOME: "/home/somebody", PORT: "1" })).toEqual(readConfig({}));
    expect(describeConfig(empty).every(({ from }) => from === "default")).toBe(true);
  });
});

test("OTEL_SDK_DISABLED sends neither traces nor metrics", () => {
  const { telemetry } = readConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
    OTEL_SDK_DISABLED: "true",
  });
  expect(telemetry).toMatchObject({ traces: undefined, metrics: undefined });
});

describe("Each variable", () => {
  test("is read", () => {
    const config = readConfig({
      PRESAGE_HOST: "0.0.0.0",
      PRESAGE_PORT: "0",
      PRESAGE_DATABASE_URL: "postgres://me:password@db/presage",
      PRESAGE_REDIS_URL: "rediss://me:password@redis:6380/2",
      PRESAGE_UPSTREAM_URL: "http://gpu:8000/v1/",
      PRESAGE_UPSTREAM_API_KEY: "upstream-key\n",
      PRESAGE_UPSTREAM_MODEL: "world-model",
      PRESAGE_UPSTREAM_TIMEOUT_MS: "5000",
      PRESAGE_UPSTREAM_RETRIES: "0",
      PRESAGE_DEBUG_FIELDS: "true",
      PRESAGE_CHAT_COMPATIBILITY: "openai",
      PRESAGE_CACHE: "seeded",
      PRESAGE_CACHE_MAX_BYTES: "1000000",
      PRESAGE_CACHE_MAX_AGE_S: "60",
      PRESAGE_CACHE_EPOCH: "weights of May",
      PRESAGE_CAPTURE: "0.01",
      PRESAGE_CAPTURE_MAX_AGE_DAYS: "7",
      PRESAGE_RETENTION: "results=90, usage=365",
      PRESAGE_UPSTREAM_KEEP_ALIVE: "false",
      PRESAGE_UPSTREAM_CLIENT: "fetch",
      PRESAGE_RATE_LIMIT_RPM: "600",
      PRESAGE_MAX_IN_FLIGHT: "1",
      PRESAGE_MAX_BODY_BYTES: "1000",
      PRESAGE_MAX_DATASET_BYTES: "3000000",
      PRESAGE_MIN_FREE_DISK_BYTES: "5000000",
      PRESAGE_DATASET_QUOTA_BYTES: "4000000",
      PRESAGE_MEMORY_BUDGET_BYTES: "1048576",
      PRESAGE_BOOTSTRAP_KEY: "k".repeat(32),
      PRESAGE_PUBLIC_URL: "https://presage.example",
      PRESAGE_JUDGE_URL: "https://judge.example/v1",
      PRESAGE_JUDGE_API_KEY: "judge-key",
      PRESAGE_JUDGE_MODEL: "judge-model",
      PRESAGE_JUDGE_MAX_IN_FLIGHT: "3",
      PRESAGE_EVALUATIONS_MAX_IN_FLIGHT: "2",
      PRESAGE_EVALUATE_ACCOUNT_IN_FLIGHT: "1",
      PRESAGE_EVALUATE_RPM: "120",
      PRESAGE_RATE_LIMIT_USER_RPM: "900",
      PRESAGE_RATE_LIMIT_ACCOUNT_RPM: "0",
      PRESAGE_METRICS_TOKEN: "the-metrics-token",
      PRESAGE_LOG_LEVEL: "warn",
      PRESAGE_API_KEY: "client-key",
      PRESAGE_WORKERS: "4",
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318",
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "https://metrics.example/otlp",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20collector-token",
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: "x-tenant=a=b",
      OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_EXPORTER_OTLP_TIMEOUT: "3000",
      OTEL_METRIC_EXPORT_INTERVAL: "15000",
      OTEL_SERVICE_NAME: "worlds",
      OTEL_SDK_DISABLED: "false",
      PRESAGE_OTEL_CONTENT: "spans",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.01",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other, deployment.name=a%2Cb",
      PRESAGE_OIDC_ALLOWED_DOMAINS: "Example.org, lab.example.org",
      PRESAGE_OIDC_ACCOUNT_CLAIM: "team",
      PRESAGE_NEW_USER_ROLE: "viewer",
      PRESAGE_SESSION_IDLE_MINUTES: "10",
      PRESAGE_SESSION_MAX_HOURS: "2",
      ...oidc,
    });
    expect(config).toStrictEqual({
      patience: 1,
      listen: { host: "0.0.0.0", port: 0, publicUrl: "https://presage.example", maxBodyBytes: 1_000 },
      workers: { count: 4, index: 0 },
      databaseUrl: "postgres://me:password@db/presage",
      redisUrl: "rediss://me:password@redis:6380/2",
      deployments: undefined,
      pricesPath: undefined,
      realEnvironments: undefined,
      memoryBudgetBytes: 1_048_576,
      minFreeDiskBytes: 5_000_000,
      upstream: {
        urls: ["http://gpu:8000/v1"],
        apiKey: "upstream-key",
        model: "world-model",
        timeoutMs: 5_000,
        retries: 0,
        keepAlive: false,
        client: "fetch",
      },
      cache: { policy: "seeded", maxBytes: 1_000_000, maxAgeS: 60, epoch: "weights of May" },
      capture: { setting: "0.01", maxAgeDays: 7 },
      retention: { results: 90, predictions: 7, usage: 365 },
      prediction: {
        debugFields: true,
        chatCompatibility: "openai",
        ratePerMinute: 600,
        userRatePerMinute: 900,
        accountRatePerMinute: 0,
        maxInFlight: 1,
      },
      evaluation: { accountRatePerMinute: 120, maxInFlight: 2, maxInFlightEach: 1 },
      datasets: { maxBytes: 3_000_000, quotaBytes: 4_000_000 },
      worlds: { maxIndexBytes: undefined },
      runs: { maxInFlight: 1 },
      identity: {
        bootstrapKey: "k".repeat(32),
        oidc: {
          issuer: "https://login.example",
          clientId: "presage",
          clientSecret: "the-oidc-secret",
          allowedDomains: ["example.org", "lab.example.org"],
          accountClaim: "team",
          newUserRole: "viewer",
        },
        session: { idleMs: 600_000, maxMs: 7_200_000 },
      },
      judge: { url: "https://judge.example/v1", apiKey: "judge-key", model: "judge-model", maxInFlight: 3 },
      metricsToken: "the-metrics-token",
      logLevel: "warn",
      telemetry: {
        attributes: {
          "service.name": "worlds",
          "service.version": packageJson.version,
          "deployment.name": "a,b",
        },
        traces: {
          url: "http://collector:4318/v1/traces",
          headers: { authorization: "Bearer collector-token" },
          protocol: "http/protobuf",
          compression: "gzip",
          timeoutMs: 3_000,
          hasTexts: true,
        },
        metrics: {
          url: "https://metrics.example/otlp",
          headers: { authorization: "Bearer collector-token", "x-tenant": "a=b" },
          protocol: "http/json",
          compression: "gzip",
          timeoutMs: 3_000,
          intervalMs: 15_000,
        },
      },
      clientApiKey: "client-key",
    });
  });

  test("of the upstream's address, key and model is refused beside a file of deployments, which has its own", () => {
    const environment = {
      PRESAGE_DEPLOYMENTS: "deployments.yaml",
      PRESAGE_UPSTREAM_URL: "http://a/v1",
      PRESAGE_UPSTREAM_API_KEY: "key",
      PRESAGE_UPSTREAM_MODEL: "m",
      PRESAGE_CACHE: "deterministic",
      PRESAGE_JUDGE_API_KEY: "key",
    };
    expect(linesOf(environment).map((line) => line.split(":")[0])).toEqual([
      "PRESAGE_UPSTREAM_URL",
      "PRESAGE_UPSTREAM_API_KEY",
      "PRESAGE_UPSTREAM_MODEL",
      "PRESAGE_CACHE",
      "PRESAGE_JUDGE_API_KEY",
    ]);
    const own = { PRESAGE_DEPLOYMENTS: "deployments.yaml", OTHER_KEY: "key" };
    expect(readConfig(own).deployments).toEqual({ path: "deployments.yaml", environment: own });
  });

  test("of the upstream may be a list of replicas", () => {
    const { urls } = readConfig({ PRESAGE_UPSTREAM_URL: "http://a/v1, http://b/v1/" }).upstream;
    expect(urls).toEqual(["http://a/v1", "http://b/v1"]);
    expect(linesOf({ PRESAGE_UPSTREAM_URL: "http://a/v1,http://A:80/v1" })).toHaveLength(1);
  });

  test("of the age of predictions is set once", () => {
    expect(readConfig({ PRESAGE_RETENTION: "predictions=3" })).toMatchObject({
      capture: { maxAgeDays: 3 },
      retention: { predictions: 3 },
    });
    expect(() =>
      readConfig({ PRESAGE_RETENTION: "predictions=3", PRESAGE_CAPTURE_MAX_AGE_DAYS: "3" }),
    ).toThrow("PRESAGE_CAPTURE_MAX_AGE_DAYS: set together with predictions in PRESAGE_RETENTION; unset it");
  });

  test("that limits keys limits users to 10 times and accounts to 50 times as much", () => {
    const { prediction } = readConfig({ PRESAGE_RATE_LIMIT_RPM: "5" });
    expect([prediction.userRatePerMinute, prediction.accountRatePerMinute]).toEqual([50, 250]);
  });

  test("with few concurrent predictions allows at most as many calls to the judge's model", () => {
    expect(readConfig({ PRESAGE_MAX_IN_FLIGHT: "5" }).judge.maxInFlight).toBe(5);
  });

  test("that names an issuer keeps its trailing slash, as issuers are compared character by character", () => {
    for (const PRESAGE_OIDC_ISSUER of ["https://login.example/realm/", "https://login.example/realm"]) {
      const { identity } = readConfig({ ...oidc, ...everybody, PRESAGE_OIDC_ISSUER });
      expect(identity.oidc?.issuer).toBe(PRESAGE_OIDC_ISSUER);
    }
  });

  test("is frozen at every depth", () => {
    const unfrozen = (value: unknown): boolean =>
      typeof value === "object" &&
      value !== null &&
      (!Object.isFrozen(value) || Object.values(value).some(unfrozen));
    expect(unfrozen(readConfig({ ...oidc, PRESAGE_OIDC_ALLOWED_DOMAINS: "a.example" }))).toBe(false);
    expect(unfrozen({ a: Object.freeze({}) })).toBe(true);
  });

  test("with an unknown PRESAGE_ variable is reported", () => {
    const raw = { PRESAGE_PROT: "1", PRESAGE_PORT: "1", PRESAGE_URL: "http://a", HOME: "/" };
    expect(unknownVariables(raw)).toEqual(["PRESAGE_PROT"]);
  });
});

describe("A wrong value", () => {
  const wrong: [string, string[], string][] = [
    [
      "PRESAGE_HOST",
      ["[::1]", "a b", "999.1.1.1", "0.0.0.0:8080", "http://a", "a/b", ":::", "*"],
      "an IP address without brackets, or a host name",
    ],
    ["PRESAGE_PORT", ["x", "-1", "65536", "80.5", "1e3", " 80", "0x50"], "a whole number from 0 to 65535"],
    [
      "PRESAGE_DATABASE_URL",
      ["presage.db", "sqlite:", "mysql://h/db", "postgres:db"],
      "sqlite:PATH, sqlite::memory: or postgres://…",
    ],
    [
      "PRESAGE_REDIS_URL",
      ["redis:6379", "http://redis", "redis://", "redis://h/db", "redis://h?tls=true", "redis:///1"],
      "redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// with TLS",
    ],
    [
      "PRESAGE_UPSTREAM_URL",
      [
        "gpu",
        "gpu:8000",
        "ftp://gpu/v1",
        "http://",
        "/v1",
        "http://a/v1,b,c",
        "http://a/v1,",
        "http://a/v1, http://a/v1/",
      ],
      "an http or https URL without a user name, password or query, or several different ones with commas between them",
    ],
    [
      "PRESAGE_UPSTREAM_TIMEOUT_MS",
      ["0", "86400001", "2m"],
      "a whole number of milliseconds from 1 to 86400000",
    ],
    ["PRESAGE_UPSTREAM_RETRIES", ["-1", "21"], "a whole number from 0 to 20"],
    ["PRESAGE_CACHE", ["on", "true", "Deterministic"], "off, deterministic, seeded"],
    ["PRESAGE_CACHE_MAX_BYTES", ["0", "256MB"], "a whole number of bytes above 0"],
    ["PRESAGE_CACHE_MAX_AGE_S", ["0", "1d", "31536001"], "a whole number of seconds from 1 to 31536000"],
    [
      "PRESAGE_CAPTURE",
      ["on", "1.5", "-0.1", "1e-3", ".5", "50%"],
      "off, failures, all, or a share from 0 to 1 such as 0.01",
    ],
    ["PRESAGE_CAPTURE_MAX_AGE_DAYS", ["0", "30d", "36501"], "a whole number of days from 1 to 36500"],
    [
      "PRESAGE_RETENTION",
      [
        "90",
        "results",
        "results=",
        "results=0",
        "audit=89",
        "runs=90",
        "results=90d",
        "results=90;usage=1",
        "usage=1,usage=2",
        "results=90,",
      ],
      "results, predictions, episodes, usage or audit, each with =DAYS from 1 to 36500 (audit: from 90) and commas between them, such as results=90,usage=365",
    ],
    ["PRESAGE_DEBUG_FIELDS", ["maybe", "2"], "true or false"],
    ["PRESAGE_CHAT_COMPATIBILITY", ["OpenAI", "yes"], "strict, openai"],
    ["PRESAGE_RATE_LIMIT_RPM", ["-1", "1.5", "9007199254740993"], "a whole number, 0 for no limit"],
    ["PRESAGE_MAX_IN_FLIGHT", ["0", "many"], "a whole number above 0"],
    ["PRESAGE_MEMORY_BUDGET_BYTES", ["1048575", "1GB", "-1"], "a whole number of bytes from 1048576"],
    ["PRESAGE_MAX_BODY_BYTES", ["0", "16MB", "1073741825"], "a whole number of bytes from 1 to 1073741824"],
    [
      "PRESAGE_BOOTSTRAP_KEY",
      ["k".repeat(31), `${"k".repeat(32)} k`, "ключ".repeat(10)],
      "32 to 512 visible ASCII characters",
    ],
    ["PRESAGE_UPSTREAM_API_KEY", ["a\nb", "schlüssel"], "printable ASCII characters"],
    ["PRESAGE_JUDGE_API_KEY", ["a\r\nb", "\u007f"], "printable ASCII characters"],
    [
      "PRESAGE_PUBLIC_URL",
      ["presage.example", "https://example.org/presage", "https://example.org?a", "https://example.org/#a"],
      "an http or https URL without user name, password, query and path",
    ],
    [
      "PRESAGE_OIDC_ALLOWED_DOMAINS",
      ["example", "a.example,", "a.example,b", "*.example.org", "a.example b.example", "*,a.example", "**"],
      "domains separated by commas, for example example.org,example.com, or *",
    ],
    ["PRESAGE_SESSION_IDLE_MINUTES", ["0", "1.5", "525601"], "a whole number of minutes from 1 to 525600"],
    ["PRESAGE_SESSION_MAX_HOURS", ["0", "1d", "8761"], "a whole number of hours from 1 to 8760"],
    ["PRESAGE_JUDGE_URL", ["judge"], "an http or https URL without a user name, password or query"],
    ["PRESAGE_LOG_LEVEL", ["loud", "INFO"], "trace, debug, info, warn, error, fatal, silent"],
    [
      "OTEL_EXPORTER_OTLP_ENDPOINT",
      ["collector"],
      "an http or https URL without a user name, password or query",
    ],
    ["OTEL_EXPORTER_OTLP_PROTOCOL", ["grpc", "http"], "http/protobuf, http/json; gRPC is not supported"],
    ["OTEL_SDK_DISABLED", ["maybe"], "true or false"],
    [
      "OTEL_TRACES_SAMPLER",
      ["ratio", "jaeger_remote"],
      "always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio",
    ],
    ["OTEL_TRACES_SAMPLER_ARG", ["1.5", "-0.1", "1%"], "a number from 0 to 1"],
    ["OTEL_METRICS_EXPORTER", ["prometheus", "console"], "otlp, none"],
    [
      "OTEL_EXPORTER_OTLP_HEADERS",
      ["token", "=b", "a=%", "two words=b", "a=b%0D%0Ac: d"],
      "NAME=VALUE pairs with commas between them, with % escapes where needed",
    ],
  ];
  for (const [name, values, expected] of wrong) {
    test(`of ${name} is refused with one line: its name, the value and what was expected`, () => {
      const isSecret = [
        "PRESAGE_DATABASE_URL",
        "PRESAGE_REDIS_URL",
        "PRESAGE_UPSTREAM_API_KEY",
        "PRESAGE_JUDGE_API_KEY",
        "PRESAGE_BOOTSTRAP_KEY",
        "OTEL_EXPORTER_OTLP_HEADERS",
      ].includes(name);
      for (const value of values) {
        const got = isSecret ? "a hidden value" : JSON.stringify(value);
        expect(linesOf({ [name]: value })).toEqual([`${name}: got ${got}; expected ${expected}`]);
      }
    });
  }

  test.each(["login", "http://login.example", "https://u:p@login.example", "https://login.example?tenant=1"])(
    "of PRESAGE_OIDC_ISSUER, %s, says what it has to be",
    (PRESAGE_OIDC_ISSUER) => {
      const [line] = linesOf({ ...oidc, ...everybody, PRESAGE_OIDC_ISSUER });
      expect(line).toEndWith(
        "an https URL without a user name, password or query, or an http one on this machine",
      );
    },
  );

  test("does not hide another: each has a line", () => {
    const all = Object.fromEntries(wrong.map(([name, values]) => [name, values[0]]));
    const lines = linesOf({ ...all, PRESAGE_OIDC_ISSUER: "login", PRESAGE_OIDC_CLIENT_ID: "presage" });
    expect(lines.map((line) => line.split(":")[0]).sort()).toEqual(
      [...wrong.map(([name]) => name), "PRESAGE_OIDC_CLIENT_SECRET", "PRESAGE_OIDC_ISSUER"].sort(),
    );
  });

  test("of a URL is shown without its password", () => {
    for (const address of [
      "http://me:hunter2@gpu/v1",
      "http://me:hun/ter2@gpu/v1",
      "https://hunter2@gpu",
      "http:me:hunter2@gpu/v1",
      "me:hunter2@gpu:8000",
      "ftp://me:hun@ter2@gpu/v1",
      "ftp://gpu/v1?user=me&password=hunter2",
      "ftp://gpu/v1?api_key=hunter2",
    ]) {
      for (const name of [
        "PRESAGE_UPSTREAM_URL",
        "PRESAGE_JUDGE_URL",
        "PRESAGE_PUBLIC_URL",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
      ]) {
        const [line = "", ...others] = linesOf({ [name]: address });
        expect(line).toStartWith(`${name}: got "`);
        expect(line).toContain("gpu");
        expect(line).not.toMatch(/hun|ter2/);
        expect(others).toEqual([]);
      }
    }
  });
});

describe("The three variables of sign-in", () => {
  test("are set together: each missing one has a line", () => {
    const names = Object.keys(oidc) as (keyof typeof oidc)[];
    for (const set of names) {
      const others = names.filter((name) => name !== set);
      const line = (name: string) => `${name}: not set; set all of ${names.join(", ")} or none`;
      expect(linesOf({ ...everybody, [set]: oidc[set] })).toEqual(others.map(line));
      expect(linesOf({ ...oidc, ...everybody, [set]: "" })).toEqual([line(set)]);
    }
    expect(linesOf({ ...oidc, ...everybody })).toEqual([]);
  });

  test("do not let everybody in unless configured so: without a restriction one line says what to set", () => {
    const line =
      "PRESAGE_OIDC_ALLOWED_DOMAINS: not set; set it to the e-mail domains whose users may sign in, or to * to allow every user of the provider, or set PRESAGE_OIDC_ACCOUNT_CLAIM to the claim that names a user's account";
    expect(linesOf(oidc)).toEqual([line]);
    expect(linesOf({ ...oidc, PRESAGE_OIDC_ALLOWED_DOMAINS: "", PRESAGE_OIDC_ACCOUNT_CLAIM: "" })).toEqual([
      line,
    ]);
    expect(linesOf({ ...oidc, PRESAGE_OIDC_ACCOUNT_CLAIM: "team" })).toEqual([]);
    expect(linesOf({ ...oidc, PRESAGE_OIDC_ALLOWED_DOMAINS: "example.org" })).toEqual([]);
    expect(readConfig({ ...oidc, ...everybody }).identity.oidc?.allowedDomains).toBeUndefined();
  });
});

describe("What is shown of the configuration", () => {
  test("has every variable, its value, and whether it was set", () => {
    const shown = describeConfig({ PRESAGE_PORT: "9999", PRESAGE_UPSTREAM_URL: "http://gpu:8000/v1" });
    const of = (name: string) => shown.find((variable) => variable.name === name);
    expect(shown).toHaveLength(75);
    expect(of("PRESAGE_PORT")).toEqual({ name: "PRESAGE_PORT", value: "9999", from: "environment" });
    expect(of("PRESAGE_HOST")).toEqual({ name: "PRESAGE_HOST", value: "127.0.0.1", from: "default" });
    expect(of("PRESAGE_UPSTREAM_URL")?.value).toBe("http://gpu:8000/v1");
    expect(of("PRESAGE_UPSTREAM_API_KEY")).toEqual({
      name: "PRESAGE_UPSTREAM_API_KEY",
      value: "",
      from: "default",
    });
  });

  test("hides secrets, and the password of the database URL", () => {
    const secrets = {
      PRESAGE_UPSTREAM_API_KEY: "secret-of-the-upstream",
      PRESAGE_BOOTSTRAP_KEY: "secret-that-is-a-bootstrap-key-0123",
      PRESAGE_JUDGE_API_KEY: "secret-of-the-judge",
      PRESAGE_API_KEY: "secret-of-the-client",
      ...oidc,
      ...everybody,
      PRESAGE_OIDC_CLIENT_SECRET: "secret-of-sign-in",
    };
    const shownOf = (databaseUrl: string) =>
      describeConfig({ ...secrets, PRESAGE_DATABASE_URL: databaseUrl }).map(
        ({ name, value }) => `${name}=${value}`,
      );
    expect(shownOf("sqlite:/data/presage.db")).toContain("PRESAGE_DATABASE_URL=sqlite:/data/presage.db");
    expect(shownOf("postgres://me:secret@db:5432/presage")).toContain(
      "PRESAGE_DATABASE_URL=postgres://***@db:5432/presage",
    );
    expect(shownOf("postgres://me:sec/ret@db/presage")).toContain(
      "PRESAGE_DATABASE_URL=postgres://***@db/presage",
    );
    expect(shownOf("postgres://db/presage?user=me&password=secret&sslmode=require")).toContain(
      "PRESAGE_DATABASE_URL=postgres://db/presage?user=me&password=***&sslmode=require",
    );
    expect(describeConfig({ PRESAGE_REDIS_URL: "rediss://:secret@redis/1" })).toContainEqual({
      name: "PRESAGE_REDIS_URL",
      value: "rediss://***@redis/1",
      from: "environment",
    });
    const lines = shownOf("postgres://me:secret@db/presage");
    expect(lines.filter((line) => /secret/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.endsWith("=***"))).toHaveLength(5);
  });
});

describe("PRESAGE_WORKERS", () => {
  const postgres = { PRESAGE_DATABASE_URL: "postgres://db/presage" };

  test("is the number of processors if it is auto", () => {
    const { workers } = readConfig({ ...postgres, PRESAGE_WORKERS: "auto" });
    expect(workers).toEqual({ count: availableParallelism(), index: 0 });
  });

  test("must be 1 with SQLite", () => {
    expect(linesOf({ PRESAGE_WORKERS: "2" })).toEqual([
      "PRESAGE_WORKERS: 2 processes need PostgreSQL; set PRESAGE_DATABASE_URL to postgres://…, or PRESAGE_WORKERS to 1",
    ]);
    expect(linesOf({ PRESAGE_WORKERS: "1" })).toEqual([]);
  });

  test("must be 1 on systems that do not balance the connections of a shared port", () => {
    const { platform } = process;
    Object.defineProperty(process, "platform", { value: "darwin" });
    try {
      const lines = linesOf({ ...postgres, PRESAGE_WORKERS: "2" });
      expect(lines).toEqual(["PRESAGE_WORKERS: 2 processes need Linux; set it to 1"]);
    } finally {
      Object.defineProperty(process, "platform", { value: platform });
    }
  });

  test("is a whole number above 0, or auto", () => {
    for (const wrong of ["0", "-1", "1.5", "257", "many"])
      expect(linesOf({ ...postgres, PRESAGE_WORKERS: wrong })).toEqual([
        `PRESAGE_WORKERS: got "${wrong}"; expected a whole number from 1 to 256, or auto`,
      ]);
  });
});
